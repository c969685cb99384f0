// unannounced.cpp: a goroutine that sleeps in the kernel without having told weft stops nobody else.
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/preemptible.hpp"
#include "support/pressure.hpp"

using namespace std::chrono_literals;
using weft::test::eventually;
using weft::test::hogs;
using weft::test::is_soon;
using weft::test::nap;

namespace {

class pipe_pair {
 public:
  pipe_pair() { EXPECT_EQ(::pipe(fds_), 0); }
  ~pipe_pair() {
    ::close(fds_[0]);
    ::close(fds_[1]);
  }
  int out() const { return fds_[0]; }
  void write_one() { EXPECT_EQ(::write(fds_[1], "x", 1), 1); }

 private:
  int fds_[2] = {-1, -1};
};

TEST_FOR_PROCS(unannounced, a_read_from_an_empty_pipe_stops_nobody_else) {
  pipe_pair pipe;
  std::atomic<bool> has_read{false};
  const unsigned n = weft::max_procs();
  weft::wait_group wg;
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      char c = 0;
      EXPECT_EQ(::read(pipe.out(), &c, 1), 1);
      has_read = true;
    });
  }
  int nturns = 0;
  weft::wait_group others;
  others.go([&] {
    for (int i = 0; i < 100; ++i) {
      ++nturns;
      weft::yield();
    }
  });
  others.wait();
  EXPECT_EQ(nturns, 100);
  EXPECT_FALSE(has_read);
  for (unsigned i = 0; i < n; ++i) pipe.write_one();
  wg.wait();
}

// They wait in the queue of one that computes and keeps its processor. Whoever of them is stolen from there takes the other one to sleep.
TEST(unannounced, those_in_another_queue_get_the_processor_of_one_that_sleeps) {
  weft::test::run_on(2, [] {
    constexpr int kSleepers = 12;
    pipe_pair pipe;
    std::atomic<int> nasleep{0};
    weft::wait_group wg;
    const weft::no_preempt mine;
    for (int i = 0; i < kSleepers; ++i) {
      wg.go([&] {
        char c = 0;
        ++nasleep;
        EXPECT_EQ(::read(pipe.out(), &c, 1), 1);
      });
    }
    const auto limit = std::chrono::steady_clock::now() + 30s;
    while (nasleep != kSleepers && std::chrono::steady_clock::now() < limit) {
    }
    EXPECT_EQ(nasleep, kSleepers);
    for (int i = 0; i < kSleepers; ++i) pipe.write_one();
    wg.wait();
  });
}

// Not because its slice is over, which would be late, and without a signal, which would cut its call short.
// A thread that waits long for a CPU may have had its slice before it sleeps: then they sleep once more.
TEST_FOR_PROCS(unannounced, one_that_sleeps_loses_its_processor_as_one_that_sleeps) {
  const unsigned n = weft::max_procs();
  const auto before = weft::stats();
  const auto is_handed_off = [&] { return weft::stats().handoffs > before.handoffs; };
  std::atomic<bool> stop{false};
  auto always_wants_a_p = weft::spawn([&] {
    while (!stop) weft::yield();
  });
  for (int round = 0; round < 20 && !is_handed_off(); ++round) {
    pipe_pair pipe;
    std::atomic<unsigned> nasleep{0};
    weft::wait_group wg;
    for (unsigned i = 0; i < n; ++i) {
      wg.go([&] {
        char c = 0;
        ++nasleep;
        EXPECT_EQ(::read(pipe.out(), &c, 1), 1);
      });
    }
    EXPECT_TRUE(eventually([&] { return nasleep == n; }));
    const auto limit = std::chrono::steady_clock::now() + 100ms;
    while (!is_handed_off() && std::chrono::steady_clock::now() < limit) weft::yield();
    for (unsigned i = 0; i < n; ++i) pipe.write_one();
    wg.wait();
  }
  EXPECT_TRUE(is_handed_off());
  EXPECT_EQ(weft::stats().signals_sent, before.signals_sent);
  stop = true;
  always_wants_a_p.join();
}

// It has just woken and wants nothing that needs a processor: it takes nobody's. Sysmon may catch it awake now and then.
TEST_FOR_PROCS(unannounced, naps_and_yields_borrow_no_processor) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  if (weft::test::is_migrating()) GTEST_SKIP() << "there every yield is a step, and needs one";
  constexpr unsigned kRounds = 60;
  for (const bool is_told : {false, true}) {
    hogs busy(weft::max_procs() + 1);
    std::uint64_t nborrowed = kRounds;
    weft::spawn([&] {
      const auto nap = [] { std::this_thread::sleep_for(2ms); };
      for (unsigned i = 0; i < 10; ++i) nap();  // until it is known for it
      const auto before = weft::stats().borrows;
      for (unsigned i = 0; i < kRounds; ++i) {
        if (is_told) {
          weft::blocking(nap);
        } else {
          nap();
        }
        weft::yield();
        weft::checkpoint();
      }
      nborrowed = weft::stats().borrows - before;
    }).join();
    EXPECT_LT(nborrowed, kRounds / 2) << (is_told ? "announced" : "unannounced");
  }
}

// One that was caught asleep a few times, in malloc's lock perhaps, and then calls often must not pay for it with every call.
TEST_FOR_PROCS(unannounced, the_habit_of_sleeping_ends_with_the_sleeping) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  constexpr unsigned kCalls = 1000;
  hogs busy(weft::max_procs() + 1);
  std::uint64_t nborrowed = kCalls;
  weft::spawn([&] {
    for (int i = 0; i < 10; ++i) std::this_thread::sleep_for(2ms);
    const auto before = weft::stats().borrows;
    weft::event e;
    for (unsigned i = 0; i < kCalls; ++i) e.set();  // each needs a processor
    nborrowed = weft::stats().borrows - before;
  }).join();
  EXPECT_LT(nborrowed, kCalls / 4);
}

TEST_FOR_PROCS(unannounced, std_sleep_in_every_goroutine_delays_nobody) {
  std::atomic<int> nended{0};
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([&] {
      std::this_thread::sleep_for(5ms);
      weft::yield();
      std::this_thread::sleep_for(5ms);
      ++nended;
    });
  }
  wg.wait();
  EXPECT_EQ(nended.load(), 8);
}

TEST_FOR_PROCS(unannounced, a_std_mutex_held_by_one_who_is_stopped_is_no_deadlock) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  std::mutex m;
  std::atomic<bool> is_held{false};
  weft::wait_group wg;
  wg.go([&] {
    const std::lock_guard hold(m);
    is_held = true;
    const auto until = std::chrono::steady_clock::now() + 40ms;  // stopped in here
    while (std::chrono::steady_clock::now() < until) {
    }
  });
  while (!is_held) weft::yield();
  std::atomic<int> nheld{0};
  for (unsigned i = 0; i < 2 * weft::max_procs(); ++i) {
    wg.go([&] {
      const std::lock_guard hold(m);
      ++nheld;
    });
  }
  wg.wait();
  EXPECT_EQ(nheld.load(), static_cast<int>(2 * weft::max_procs()));
}

TEST_FOR_PROCS(unannounced, flock_waits_for_another_goroutine) {
  char name[] = "/tmp/weft_flock_XXXXXX";
  const int first = ::mkstemp(name);
  ASSERT_GE(first, 0);
  const int second = ::open(name, O_RDWR | O_CLOEXEC);
  ASSERT_GE(second, 0);
  ASSERT_EQ(::flock(first, LOCK_EX), 0);
  std::atomic<bool> has_got{false};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs(); ++i) {
    wg.go([&] {
      EXPECT_EQ(::flock(second, LOCK_EX), 0);
      has_got = true;
    });
  }
  for (int i = 0; i < 50; ++i) weft::yield();
  EXPECT_FALSE(has_got);
  EXPECT_EQ(::flock(first, LOCK_UN), 0);
  wg.wait();
  ::close(first);
  ::close(second);
  ::unlink(name);
}

// HAZARD 50: the initialiser of a local static waits, and others want the static meanwhile. They sleep in the C++ library, on whatever thread.
int slow_number(weft::event& go_on) {
  static const int number = [&] {
    go_on.wait();
    return 42;
  }();
  return number;
}

TEST(unannounced, a_local_static_whose_initialiser_waits_is_no_deadlock) {
  weft::test::run_on(1, [] {
    weft::event go_on;
    std::atomic<int> nright{0};
    weft::wait_group wg;
    for (int i = 0; i < 4; ++i) wg.go([&] { nright += slow_number(go_on) == 42; });
    for (int i = 0; i < 20; ++i) weft::yield();
    EXPECT_EQ(nright.load(), 0);
    go_on.set();
    wg.wait();
    EXPECT_EQ(nright.load(), 4);
  });
}

// It naps so often that it leaves weft without a P each time. Inside blocking() it calls weft too.
void napper_calls_in_from_blocking() {
  weft::wait_group wg;
  std::atomic<int> nrounds{0};
  wg.go([&] {
    for (int i = 0; i < 15; ++i) nap(2ms);
    for (int i = 0; i < 5; ++i) {
      weft::blocking([] {
        nap(1ms);
        weft::spawn([] {}).join();
        nap(1ms);
      });
      ++nrounds;
    }
    for (int i = 0; i < 5; ++i) {
      weft::blocking([] {
        nap(12ms);  // long enough to lose its P there as well
        weft::event e;
        e.set();
        nap(100us);
      });
      ++nrounds;
    }
  });
  for (int i = 0; i < 3; ++i) {
    wg.go([] {
      for (int k = 0; k < 15; ++k) {
        weft::test::spin_for(1ms);
        weft::yield();
      }
    });
  }
  wg.wait();
  EXPECT_EQ(nrounds.load(), 10);
}
TEST_FOR_PROCS(unannounced, one_that_naps_often_may_call_weft_inside_blocking) {
  napper_calls_in_from_blocking();
}
TEST_WITHOUT_SIGNALS(unannounced, one_that_naps_often_may_call_weft_inside_blocking) {
  napper_calls_in_from_blocking();
}

// A name server on the loopback interface that does not answer before it is told to. The C library's resolver asks whom its thread's `_res` names,
// whatever resolv.conf says.
class patient_name_server {
 public:
  patient_name_server() {
    fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    socklen_t size = sizeof at_;
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&at_), &size), 0);
  }
  ~patient_name_server() { ::close(fd_); }
  patient_name_server(const patient_name_server&) = delete;
  patient_name_server& operator=(const patient_name_server&) = delete;

  // Looks it up on this thread, and makes no call into weft meanwhile.
  int look_up(const char* name) const {
    if (::res_init() != 0) return EAI_SYSTEM;
    _res.nscount = 1;
    _res.nsaddr_list[0] = at_;
    _res.retrans = 20;  // seconds: it asks once
    _res.retry = 1;
    addrinfo wanted{};
    wanted.ai_family = AF_INET;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(name, "80", &wanted, &found);
    if (error == 0) ::freeaddrinfo(found);
    ::res_init();  // for those who use the thread afterwards
    return error;
  }

  // How many have asked so far.
  std::size_t hear() {
    question q;
    socklen_t size = sizeof q.from;
    for (;;) {
      q.text.resize(512);
      const ssize_t n = ::recvfrom(fd_, q.text.data(), q.text.size(), 0,
                                   reinterpret_cast<sockaddr*>(&q.from), &size);
      if (n < 12) return asked_.size();
      q.text.resize(static_cast<std::size_t>(n));
      asked_.push_back(q);
    }
  }

  // There is no such name.
  void answer() {
    for (question& q : asked_) {
      q.text[2] = static_cast<char>(q.text[2] | 0x80);           // an answer
      q.text[3] = static_cast<char>((q.text[3] & 0x70) | 0x83);  // NXDOMAIN
      EXPECT_EQ(::sendto(fd_, q.text.data(), q.text.size(), 0,
                         reinterpret_cast<const sockaddr*>(&q.from), sizeof q.from),
                static_cast<ssize_t>(q.text.size()));
    }
    asked_.clear();
  }

 private:
  struct question {
    std::string text;
    sockaddr_in from{};
  };
  int fd_ = -1;
  sockaddr_in at_{};
  std::vector<question> asked_;
};

// As many as there are Ps sleep in it, and have not told. Yet somebody runs to see them all come, and to let them go.
TEST_FOR_PROCS(unannounced, getaddrinfo_stops_nobody_else) {
  patient_name_server server;
  const unsigned n = weft::max_procs();
  weft::wait_group wg;
  std::atomic<unsigned> nended{0};
  std::atomic<unsigned> nunknown{0};
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      nunknown += server.look_up("nobody.weft.example.") == EAI_NONAME;
      ++nended;
    });
  }
  EXPECT_TRUE(eventually([&] { return server.hear() == n || nended == n; }));
  if (server.hear() == 0) {
    wg.wait();
    GTEST_SKIP() << "this machine's getaddrinfo() asks no name server (nsswitch.conf)";
  }
  // Nothing but the answer ends them. More others than there are Ps run meanwhile.
  std::atomic<int> nturns{0};
  weft::wait_group others;
  for (int i = 0; i < 20; ++i) {
    others.go([&] {
      for (int k = 0; k < 10; ++k) {
        ++nturns;
        weft::yield();
      }
    });
  }
  others.wait();
  EXPECT_EQ(nturns, 200);
  EXPECT_EQ(nended, 0U) << "they went on without an answer";
  server.answer();
  wg.wait();
  EXPECT_EQ(nunknown, n);
}

}  // namespace
