// uring_poller_test.cpp: what is different about io_uring: references to files, queues that overflow, a thread, forks, kernels without it.
#include "os/uring_poller.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "os/clock.hpp"
#include "os/poller_fixture.hpp"
#include "os/procfs.hpp"
#include "support/forbid_call.hpp"

namespace weft::os {
namespace {

using test::sockets;

class opened : public test::watched<uring_poller> {
 public:
  explicit opened(unsigned nsubmissions = uring_poller::kSubmissions,
                  unsigned ncompletions = uring_poller::kCompletions) {
    EXPECT_EQ((*this)->open(nsubmissions, ncompletions).error, 0);
  }
};

class uring : public testing::Test {
 protected:
  void SetUp() override { WEFT_SKIP_WITHOUT_URING(); }
};

std::int64_t processor_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

bool is_at_end(int fd) {
  char byte;
  return ::read(fd, &byte, 1) == 0;
}

// Another socket with the same address can be had right after, again and again.
void expect_address_is_free_at_once(int kind, int ntimes) {
  opened p;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < ntimes; ++i) {
    const int fd = ::socket(AF_INET, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ASSERT_NE(fd, -1);
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << "time " << i << ": errno " << errno;
    socklen_t n = sizeof address;
    ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &n), 0);
    if (kind == SOCK_STREAM) {
      ASSERT_EQ(::listen(fd, 1), 0);
    }
    ASSERT_EQ(p->add(fd, 7), 0);
    if (i % 2 == 0) p.settle();  // it is polled, or perhaps not yet
    p->remove(fd);
    ::close(fd);
  }
}

TEST_F(uring, what_was_removed_and_closed_is_closed) {
  opened p;
  for (int i = 0; i < 1000; ++i) {
    sockets s;
    ASSERT_EQ(p->add(s.fd[0], 7), 0);
    if (i % 2 == 0) p.settle();  // it is polled, or perhaps not yet
    p->remove(s.fd[0]);
    s.close(0);
    ASSERT_TRUE(is_at_end(s.fd[1])) << "time " << i;
  }
}

TEST_F(uring, a_port_of_udp_is_free_once_its_socket_is_removed_and_closed) {
  expect_address_is_free_at_once(SOCK_DGRAM, 1000);
}

TEST_F(uring, a_port_of_tcp_is_free_once_its_listener_is_removed_and_closed) {
  expect_address_is_free_at_once(SOCK_STREAM, 1000);
}

// 4 completions at a time: most polls end at each round, and are submitted again.
TEST_F(uring, no_event_is_lost_when_more_happen_than_there_is_room_for) {
  constexpr std::size_t kMany = 200;
  for (const unsigned ncompletions : {4u, 16u}) {
    opened p(4, ncompletions);
    std::vector<sockets> many(kMany);
    for (std::size_t i = 0; i < kMany; ++i) ASSERT_EQ(p->add(many[i].fd[0], i + 1), 0);
    p.settle();
    for (int round = 0; round < 20; ++round) {
      std::vector<bool> was_told(kMany + 1, false);
      for (sockets& s : many) ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
      p.settle();  // what wakes the helper is told through the same ring
      std::size_t nleft = kMany;
      std::array<poll_event, 32> events{};
      const std::int64_t limit = now_ns() + 30 * kSecond;
      while (nleft != 0 && now_ns() < limit) {
        const std::size_t n = p->wait(events, limit);
        for (std::size_t i = 0; i < n; ++i) {
          char byte;
          if (!events[i].is_readable || was_told[events[i].cookie]) continue;
          // What is told again was told before, and finds nothing.
          if (::read(many[events[i].cookie - 1].fd[0], &byte, 1) != 1) continue;
          was_told[events[i].cookie] = true;
          --nleft;
        }
      }
      ASSERT_EQ(nleft, 0u) << "in round " << round << " of a ring for " << ncompletions;
    }
    const std::int64_t before = processor_ns();
    nap(50 * kMillisecond);
    EXPECT_LT(processor_ns() - before, 25 * kMillisecond) << "it goes on for ever";
    for (sockets& s : many) p->remove(s.fd[0]);
  }
}

// Nothing happens to those that were submitted that would bring the helper back to the others.
TEST_F(uring, more_than_are_submitted_at_once_are_all_polled) {
  constexpr std::size_t kMany = 50;
  opened p(4, 8);
  std::vector<std::array<int, 2>> pipes(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(::pipe2(pipes[i].data(), O_CLOEXEC | O_NONBLOCK), 0);
    ASSERT_EQ(p->add(pipes[i][0], i + 1), 0);
  }
  const std::int64_t limit = now_ns() + 20 * kSecond;
  for (std::size_t i = kMany; i-- > 0;) {
    ASSERT_EQ(::write(pipes[i][1], "x", 1), 1);
    std::array<poll_event, 1> event{};
    while (event[0].cookie != i + 1 && now_ns() < limit) p->wait(event, limit);
    ASSERT_EQ(event[0].cookie, i + 1);
  }
  for (const auto& each : pipes) {
    p->remove(each[0]);
    ::close(each[0]);
    ::close(each[1]);
  }
}

TEST_F(uring, many_that_add_and_remove_at_once_have_what_is_theirs) {
  opened p(8, 8);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        sockets s;
        ASSERT_EQ(p->add(s.fd[0], 7), 0);
        if (i % 3 == 0) {
          ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
        }
        p->remove(s.fd[0]);
        s.close(0);
        char byte;
        const ssize_t n = ::read(s.fd[1], &byte, 1);
        ASSERT_TRUE(n == 0 || errno == ECONNRESET) << "it is open: errno " << errno;
      }
    });
  for (std::thread& each : threads) each.join();
}

// The number was closed by somebody else, and stands for another file now: with epoll the kernel would have noticed.
TEST_F(uring, a_number_that_was_closed_behind_its_back_can_be_added_again) {
  opened p;
  sockets s;
  const int number = s.fd[0];
  ASSERT_EQ(p->add(number, 7), 0);
  p.settle();
  sockets other;
  ASSERT_EQ(::dup2(other.fd[0], number), number);
  ASSERT_EQ(p->add(number, 8), 0);
  EXPECT_EQ(p.told(7).cookie, 0u);
  ASSERT_EQ(::write(other.fd[1], "x", 1), 1);
  EXPECT_TRUE(p.told(8).is_readable);
  EXPECT_TRUE(is_at_end(s.fd[1])) << "the first file is kept open";
}

// Every kind that epoll takes, and none that it does not.
TEST_F(uring, takes_what_epoll_takes) {
  opened p;
  const int judge = ::epoll_create1(EPOLL_CLOEXEC);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const std::vector<int> kinds{::open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
                               ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
                               ::open("/dev/null", O_RDONLY | O_CLOEXEC),
                               ::open("/dev/zero", O_RDONLY | O_CLOEXEC),
                               ::open("/proc/self/mounts", O_RDONLY | O_CLOEXEC),
                               ::eventfd(0, EFD_CLOEXEC),
                               ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC),
                               ::epoll_create1(EPOLL_CLOEXEC),
                               pipe[0],
                               pipe[1]};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    ASSERT_NE(kinds[i], -1) << i;
    epoll_event e{};
    const int expected = ::epoll_ctl(judge, EPOLL_CTL_ADD, kinds[i], &e) == 0 ? 0 : errno;
    EXPECT_EQ(p->add(kinds[i], 100 + i), expected) << "kind " << i;
    p->remove(kinds[i]);
  }
  for (const int each : kinds) ::close(each);
  ::close(judge);
}

// 1 in uring_poller.hpp.
TEST_F(uring, calls_of_those_who_add_are_not_interrupted_when_something_happens) {
  opened p;
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  p.settle();
  std::thread later([&] {
    nap(20 * kMillisecond);
    ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
  });
  EXPECT_EQ(::poll(nullptr, 0, 200), 0) << "errno " << errno;
  later.join();
  EXPECT_TRUE(p.told(7).is_readable);
}

// And what a thread has added stays when it ends.
TEST_F(uring, what_was_added_by_a_thread_that_has_ended_is_told) {
  opened p;
  sockets s;
  std::thread([&] { ASSERT_EQ(p->add(s.fd[0], 7), 0); }).join();
  p.told(7);
  ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
  EXPECT_TRUE(p.told(7).is_readable);
}

TEST_F(uring, its_thread_blocks_every_signal_and_ends_with_it) {
  const long before = thread_count();
  {
    opened p;
    EXPECT_EQ(thread_count(), before + 1);
    bool is_named = false;
    for_each_thread(
        [](void* found, const thread_stat& each) {
          *static_cast<bool*>(found) |= each.name == "weft-uring";
          return true;
        },
        &is_named);
    EXPECT_TRUE(is_named);
  }
  EXPECT_EQ(thread_count(), before);
}

// Also before its thread has come to sleep for the first time.
TEST_F(uring, can_be_closed_as_soon_as_it_is_open) {
  const long before = thread_count();
  for (int i = 0; i < 500; ++i) {
    uring_poller p;
    ASSERT_EQ(p.open().error, 0);
    p.close();
    ASSERT_FALSE(p.is_open());
  }
  EXPECT_EQ(thread_count(), before);
}

// The child's copy goes, and the parent's poller does not notice.
TEST_F(uring, a_child_gives_up_its_copy_and_can_open_one_of_its_own) {
  opened p;
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  p.told(7);
  const pid_t child = ::fork();
  if (child == 0) {
    p->forget();
    const bool is_forgotten = !p->is_open() && p->wait({}, kDoNotWait) == 0;
    p->remove(s.fd[0]);  // of a poller that is gone: nothing
    const bool is_open = p->open().error == 0 && p->add(s.fd[0], 9) == 0;
    const bool is_told = is_open && p.told(9).is_writable;
    p->remove(s.fd[0]);  // what is left to the end of a process is closed some time after it
    p->close();
    ::_exit(is_forgotten && is_open && is_told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
  EXPECT_TRUE(p.told(7).is_readable);
  p->remove(s.fd[0]);
  s.close(0);
  char byte;
  EXPECT_EQ(::read(s.fd[1], &byte, 1), -1);
  EXPECT_EQ(errno, ECONNRESET) << "a byte was left";
}

// --- kernels without it ---

// What open() says in a process where the call fails; and that epoll is then there.
void expect_refusal(long call, int error, std::string_view what) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!weft::test::forbid_call(call, error)) ::_exit(3);
    poller p;
    const uring_failure why = p.open_uring();
    const bool is_said = why.error == error && std::string_view(why.what) == what;
    const bool is_whole = !p.is_uring() && p.nhelpers() == 0 && p.open() == 0;
    ::_exit(is_said ? (is_whole ? 0 : 1) : 2);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0)
      << "1: what is left does not work, 2: it says something else, 3: there is no seccomp";
}

TEST_F(uring, is_refused_with_the_reason_where_the_kernel_has_none_or_forbids_it) {
  expect_refusal(SYS_io_uring_setup, ENOSYS, "this kernel has no io_uring");
  expect_refusal(SYS_io_uring_setup, EPERM,
                 "io_uring is forbidden (kernel.io_uring_disabled, or a seccomp filter)");
  expect_refusal(SYS_io_uring_setup, EINVAL, "io_uring is too old (it takes Linux 6.1)");
  expect_refusal(SYS_io_uring_register, EINVAL, "io_uring does not say what it can do");
}

}  // namespace
}  // namespace weft::os
