// poller_test.cpp: what the kernel tells of descriptors, when, and to whom (B236, B272, B273), by epoll and by io_uring.
#include "os/poller.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/poller_fixture.hpp"

namespace weft::os {
namespace {

using test::sockets;

class opened : public test::watched<poller> {
 public:
  explicit opened(poller_choice kind) {
    if (kind == poller_choice::uring)
      EXPECT_EQ((*this)->open_uring().error, 0);
    else
      EXPECT_EQ((*this)->open(), 0);
  }
};

// Both kinds keep the same promises.
class either : public testing::TestWithParam<poller_choice> {
 protected:
  void SetUp() override {
    if (GetParam() == poller_choice::uring) WEFT_SKIP_WITHOUT_URING();
  }
};

INSTANTIATE_TEST_SUITE_P(poller, either,
                         testing::Values(poller_choice::epoll, poller_choice::uring),
                         [](const auto& kind) { return std::string(test::name_of(kind.param)); });

TEST_P(either, tells_each_change_once) {
  opened p(GetParam());
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  const poll_event fresh = p.told(7);
  EXPECT_TRUE(fresh.is_writable) << "there is room from the start";
  EXPECT_FALSE(fresh.is_readable);
  EXPECT_EQ(p.told(7).cookie, 0u) << "told already";
  ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
  EXPECT_TRUE(p.told(7).is_readable);
  EXPECT_EQ(p.told(7).cookie, 0u) << "although it was not read";
  ASSERT_EQ(::write(s.fd[1], "y", 1), 1);
  EXPECT_TRUE(p.told(7).is_readable) << "more has come";
}

TEST_P(either, what_was_there_before_it_was_added_is_told) {
  opened p(GetParam());
  sockets s;
  ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  EXPECT_TRUE(p.told(7).is_readable);
}

TEST_P(either, an_end_wakes_both_directions_and_is_unusual) {
  opened p(GetParam());
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  p.told(7);
  ASSERT_EQ(::shutdown(s.fd[1], SHUT_WR), 0);
  const poll_event half = p.told(7);
  EXPECT_TRUE(half.is_readable);
  EXPECT_TRUE(half.is_unusual);
  s.close(1);
  const poll_event whole = p.told(7);
  EXPECT_TRUE(whole.is_readable);
  EXPECT_TRUE(whole.is_writable);
  EXPECT_TRUE(whole.is_unusual);
}

TEST_P(either, nothing_is_told_of_what_was_removed_also_if_a_copy_of_it_lives_on) {
  opened p(GetParam());
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  p.settle();  // its room is news that nobody has been told of
  const int copy = ::dup(s.fd[0]);
  p->remove(s.fd[0]);
  s.close(0);
  ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
  EXPECT_EQ(p.told(7).cookie, 0u);
  ::close(copy);
}

TEST_P(either, refuses_what_cannot_be_waited_for) {
  opened p(GetParam());
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  ASSERT_NE(file, -1);
  errno = 1234;
  EXPECT_EQ(p->add(file, 7), EPERM);
  EXPECT_EQ(p->add(-1, 7), EBADF);
  EXPECT_EQ(errno, 1234) << "the program's own";
  ::close(file);
}

TEST_P(either, a_deadline_is_kept_and_never_early) {
  opened p(GetParam());
  for (const std::int64_t d : {std::int64_t{1}, kMillisecond / 10, 3 * kMillisecond}) {
    const std::int64_t deadline = now_ns() + d;
    // It may come back for no reason: then it is asked again.
    int nearly = 0;
    while (now_ns() < deadline) {
      EXPECT_EQ(p.wait(deadline), 0u);
      ASSERT_LT(++nearly, 1000) << "it does not wait";
    }
    EXPECT_EQ(p.wait(now_ns() - kSecond), 0u) << "in the past: it does not wait";
  }
}

// B236
TEST_P(either, an_interruption_ends_a_long_wait_each_time) {
  opened p(GetParam());
  std::atomic<int> nback{0};
  std::thread sleeper([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(p.wait(now_ns() + 10 * kSecond), 0u);
      ++nback;
    }
  });
  const std::int64_t began = now_ns();
  for (int i = 0; i < 100; ++i) {
    p->interrupt();
    while (nback <= i) std::this_thread::yield();
  }
  sleeper.join();
  EXPECT_LT(now_ns() - began, 9 * kSecond);
}

TEST_P(either, an_interruption_that_finds_nobody_ends_the_next_wait_and_no_other) {
  opened p(GetParam());
  for (int i = 0; i < 3; ++i) p->interrupt();
  EXPECT_EQ(p.wait(poller::kDoNotWait), 0u) << "one who does not wait leaves it to one who does";
  const std::int64_t began = now_ns();
  EXPECT_EQ(p.wait(now_ns() + 10 * kSecond), 0u);
  EXPECT_LT(now_ns() - began, 9 * kSecond);
  const std::int64_t deadline = now_ns() + 2 * kMillisecond;
  for (int nearly = 0; now_ns() < deadline; ++nearly) {
    EXPECT_EQ(p.wait(deadline), 0u);
    ASSERT_LT(nearly, 10) << "it does not wait";
  }
}

TEST_P(either, an_interruption_and_an_event_at_once_are_both_seen_to) {
  opened p(GetParam());
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  p.told(7);
  ASSERT_EQ(::write(s.fd[1], "x", 1), 1);
  p.settle();
  p->interrupt();
  EXPECT_EQ(p.wait(now_ns() + 10 * kSecond), 1u) << "the interruption itself is no event";
}

TEST_P(either, without_descriptors_it_says_so_and_can_be_opened_later) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int top = ::dup(0);
  ::close(top);
  poller p;
  const bool is_uring = GetParam() == poller_choice::uring;
  const auto open = [&] { return is_uring ? p.open_uring().error : p.open(); };
  for (int nleft = 0; nleft < (is_uring ? 3 : 2); ++nleft) {
    const rlimit few{static_cast<rlim_t>(top + nleft), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    EXPECT_EQ(open(), EMFILE) << nleft;
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(open(), 0);
  p.close();
  const int next = ::dup(0);
  EXPECT_EQ(next, top) << "it left a descriptor behind";
  ::close(next);
}

TEST_P(either, what_was_added_twice_is_there_once) {
  opened p(GetParam());
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  EXPECT_EQ(p->add(s.fd[0], 7), EEXIST);
  EXPECT_TRUE(p.told(7).is_writable);
  p->remove(s.fd[0]);
  ASSERT_EQ(p->add(s.fd[0], 8), 0) << "and after it was removed it can be added again";
  EXPECT_TRUE(p.told(8).is_writable);
}

TEST_P(either, what_was_never_added_can_be_removed) {
  opened p(GetParam());
  sockets s;
  p->remove(s.fd[0]);
  p->remove(-1);
  p->remove(1 << 20);
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  EXPECT_TRUE(p.told(7).is_writable);
}

TEST_P(either, more_than_fits_into_one_answer_comes_with_the_next) {
  opened p(GetParam());
  std::array<sockets, 20> many;
  std::uint64_t cookie = 1;
  for (sockets& s : many) ASSERT_EQ(p->add(s.fd[0], cookie++), 0);
  p.settle();
  std::array<int, 21> ntold{};
  std::array<poll_event, 3> events{};
  while (const std::size_t n = p->wait(events, poller::kDoNotWait))
    for (std::size_t i = 0; i < n; ++i) ++ntold.at(events[i].cookie);
  for (std::size_t i = 1; i < ntold.size(); ++i) EXPECT_EQ(ntold[i], 1) << i;
}

// What happens is told to somebody, whoever waits and however: readers that write back, a byte at a time.
TEST_P(either, nothing_that_happens_while_others_wait_and_interrupt_is_missed) {
  opened p(GetParam());
  constexpr int kRounds = 3000;
  std::array<sockets, 8> pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i) ASSERT_EQ(p->add(pairs[i].fd[0], i + 1), 0);
  std::atomic<bool> is_over{false};
  const auto serve = [&](std::int64_t for_ns) {
    std::array<poll_event, 4> events{};
    while (!is_over) {
      const std::size_t n = p->wait(events, for_ns == 0 ? kDoNotWait : now_ns() + for_ns);
      for (std::size_t i = 0; i < n; ++i) {
        if (!events[i].is_readable) continue;
        const int fd = pairs[events[i].cookie - 1].fd[0];
        char byte;
        while (::read(fd, &byte, 1) == 1) ASSERT_EQ(::write(fd, &byte, 1), 1);
      }
      if (n == 0 && for_ns == 0) std::this_thread::yield();
    }
  };
  std::array<std::thread, 3> servers{std::thread(serve, 10 * kSecond), std::thread(serve, kSecond),
                                     std::thread(serve, 0)};
  std::thread nuisance([&] {
    while (!is_over) {
      p->interrupt();
      nap(100 * kMicrosecond);
    }
  });
  const std::int64_t limit = now_ns() + 60 * kSecond;
  bool is_lost = false;
  for (int i = 0; i < kRounds && !is_lost; ++i) {
    const int fd = pairs[static_cast<std::size_t>(i) % pairs.size()].fd[1];
    ASSERT_EQ(::write(fd, "x", 1), 1);
    char byte;
    while (::read(fd, &byte, 1) != 1 && !is_lost) is_lost = now_ns() > limit;
  }
  EXPECT_FALSE(is_lost);
  is_over = true;
  for (std::thread& each : servers) {
    p->interrupt();
    p->interrupt();
    each.join();
  }
  nuisance.join();
}

TEST(poller, what_was_added_to_the_other_kind_is_removed_from_it) {
  WEFT_SKIP_WITHOUT_URING();
  opened p(poller_choice::uring);
  sockets s;
  ASSERT_EQ(p->add(s.fd[0], 7), 0);
  ASSERT_EQ(p->open(), 0);
  p->leave_uring();
  EXPECT_FALSE(p->is_uring());
  EXPECT_EQ(p->nhelpers(), 1u) << "it stays, for those that were added to it";
  ASSERT_EQ(p->add(s.fd[0], 7), 0) << "to the other";
  EXPECT_TRUE(p.told(7).is_writable);
  p->remove(s.fd[0]);
  s.close(0);
  char byte;
  EXPECT_EQ(::read(s.fd[1], &byte, 1), 0) << "somebody keeps it open";
  EXPECT_EQ(p->open_uring().error, 0);
  EXPECT_EQ(p.told(7).cookie, 0u);
}

}  // namespace
}  // namespace weft::os
