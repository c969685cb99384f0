// blocking.cpp: blocking(f): the thread may block, the P goes on.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// Something that blocks a thread in the kernel until told otherwise.
class pipe_gate {
 public:
  pipe_gate() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("pipe");
  }
  ~pipe_gate() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  pipe_gate(const pipe_gate&) = delete;
  pipe_gate& operator=(const pipe_gate&) = delete;

  void pass() const {
    char c;
    while (::read(ends_[0], &c, 1) != 1) continue;
  }
  void open(int n = 1) const {
    for (int i = 0; i < n; ++i) {
      if (::write(ends_[1], "x", 1) != 1) std::abort();
    }
  }

 private:
  std::array<int, 2> ends_{};
};

TEST_FOR_PROCS(blocking, returns_what_the_function_returns) {
  EXPECT_EQ(weft::blocking([] { return 4; }), 4);
  int x = 0;
  static_assert(std::is_same_v<decltype(weft::blocking([&]() -> int& { return x; })), int&>);
  EXPECT_EQ(&weft::blocking([&]() -> int& { return x; }), &x);
  EXPECT_EQ(*weft::blocking([] { return std::make_unique<int>(6); }), 6);
  weft::blocking([&] { x = 3; });
  EXPECT_EQ(x, 3);
}

TEST_FOR_PROCS(blocking, lets_an_exception_through) {
  EXPECT_THROW(weft::blocking([] { throw std::runtime_error("inside"); }), std::runtime_error);
  weft::yield();
  EXPECT_EQ(weft::spawn([] { return 1; }).join(), 1);
}

// T-3, B057's ordinary half: others run meanwhile, also on a single P.
TEST_FOR_PROCS(blocking, another_goroutine_runs_and_ends_while_one_is_blocked) {
  pipe_gate gate;
  std::atomic<bool> g2_ended{false};
  bool g2_ended_first = false;
  auto g1 = weft::spawn([&] {
    weft::blocking([&] { gate.pass(); });
    g2_ended_first = g2_ended;
  });
  auto g2 = weft::spawn([&] {
    g2_ended = true;
    gate.open();  // without a hand-off nobody would ever get here
  });
  g1.join();
  g2.join();
  EXPECT_TRUE(g2_ended_first);
}

TEST_FOR_PROCS(blocking, returns_on_the_thread_that_ran_the_function_with_its_errno) {
  weft::wait_group wg;
  pipe_gate gate;
  for (int i = 0; i < 8; ++i) {
    wg.go([&, i] {
      for (int n = 0; n < 50; ++n) {
        int inside = 0;
        const int result = weft::blocking([&] {
          inside = weft::test::thread_id();
          if (n % 10 == 0) std::this_thread::yield();
          errno = 1000 + i;
          return n;
        });
        const int error = errno;
        ASSERT_EQ(result, n);
        ASSERT_EQ(weft::test::thread_id(), inside);
        ASSERT_EQ(error, 1000 + i);
        weft::yield();
      }
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(blocking, keeps_errno_and_thread_when_the_p_was_taken_meanwhile) {
  pipe_gate gate;
  std::atomic<int> nblocked{0};
  weft::wait_group wg;
  for (int i = 0; i < 6; ++i) {
    wg.go([&, i] {
      int inside = 0;
      weft::blocking([&] {
        inside = weft::test::thread_id();
        ++nblocked;
        gate.pass();
        errno = 2000 + i;
      });
      const int error = errno;
      EXPECT_EQ(error, 2000 + i);
      EXPECT_EQ(weft::test::thread_id(), inside);
    });
  }
  ASSERT_TRUE(weft::test::eventually(
      [&] { return nblocked == 6; }));  // six blocked on fewer Ps, and we still run
  gate.open(6);
  wg.wait();
}

TEST_FOR_PROCS(blocking, many_at_once_each_have_a_thread) {
  constexpr int kCount = 40;
  pipe_gate gate;
  std::atomic<int> nblocked{0};
  weft::wait_group wg;
  for (int i = 0; i < kCount; ++i) {
    wg.go([&] {
      weft::blocking([&] {
        ++nblocked;
        gate.pass();
      });
    });
  }
  ASSERT_TRUE(weft::test::eventually([&] { return nblocked == kCount; }));
  gate.open(kCount);
  wg.wait();
}

TEST_FOR_PROCS(blocking, may_be_nested) {
  pipe_gate gate;
  auto h = weft::spawn([&] {
    return weft::blocking([&] {
      const int tid = weft::test::thread_id();
      weft::blocking([&] { gate.pass(); });
      EXPECT_EQ(weft::test::thread_id(), tid);
      gate.pass();
      return 5;
    });
  });
  EXPECT_EQ(weft::spawn([&] {
              gate.open(2);
              return 1;
            }).join(),
            1);
  EXPECT_EQ(h.join(), 5);
}

TEST_FOR_PROCS(blocking, the_function_may_park_spawn_yield_and_join) {
  for (int i = 0; i < 20; ++i) {
    weft::event e;
    auto h = weft::spawn([&] {
      return weft::blocking([&] {
        weft::go([&] { e.set(); });
        e.wait();
        weft::yield();
        return weft::spawn([] { return 9; }).join();
      });
    });
    ASSERT_EQ(h.join(), 9);
  }
}

TEST_FOR_PROCS(blocking, the_function_may_exit_the_goroutine) {
  auto h = weft::spawn([] { weft::blocking([] { weft::exit_goroutine(); }); });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
  EXPECT_EQ(weft::spawn([] { return 1; }).join(), 1);
}

TEST(blocking, works_from_a_plain_thread_with_or_without_a_runtime) {
  EXPECT_EQ(weft::blocking([] { return 2; }), 2);
  weft::runtime rt({.max_procs = 1});
  EXPECT_EQ(weft::blocking([] { return weft::spawn([] { return 3; }).join(); }), 3);
}

// Its P is retaken by sysmon and counted.
TEST(blocking, a_blocked_thread_loses_its_p_when_others_have_use_for_it) {
  weft::test::run_on(1, [] {
    pipe_gate gate;
    const auto before = weft::stats().handoffs;
    auto h = weft::spawn([&] { weft::blocking([&] { gate.pass(); }); });
    weft::yield();
    ASSERT_TRUE(weft::test::eventually([&] { return weft::stats().handoffs > before; }));
    gate.open();
    h.join();
  });
}

// Each of these calls wakes sysmon out of a long nap, when there is nothing to see yet: it has to look again before the call is
// over, not after a nap as long as the last.
TEST(blocking, calls_of_a_few_milliseconds_one_after_the_other_lose_their_p) {
  weft::test::run_on(1, [] {
    const auto before = weft::stats().handoffs;
    const auto quiet_until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    weft::wait_group all;
    // A goroutine for each call: one that is known to block for long gives its P away by itself.
    for (int i = 0; i < 200; ++i) {
      all.go([&] {
        while (std::chrono::steady_clock::now() < quiet_until) weft::yield();  // sysmon slows down
        weft::blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); });
      });
    }
    all.wait();
    EXPECT_GE(weft::stats().handoffs - before, 20U);
  });
}

// Between two short calls its slice can end as anybody's: it is not enough to look at how long each call takes.
TEST_FOR_PROCS(blocking, a_loop_of_short_calls_does_not_keep_its_p_from_the_others) {
  std::atomic<bool> stop{false};
  weft::wait_group wg;
  for (unsigned i = 0; i < weft::max_procs(); ++i) {
    wg.go([&] {
      while (!stop) weft::blocking([] { std::this_thread::yield(); });
    });
  }
  for (int i = 0; i < 10; ++i) weft::yield();
  stop = true;
  wg.wait();
}

// B057: the P is retaken at about the moment the call returns; exactly one has it afterwards (checked in debug builds, and by
// ThreadSanitizer through the P's own fields).
TEST_FOR_PROCS(blocking_race, short_calls_race_with_sysmon) {
  weft::wait_group wg;
  std::atomic<int> sum{0};
  for (int i = 0; i < 6; ++i) {
    wg.go([&] {
      for (int n = 0; n < weft::test::scaled(400); ++n) {
        weft::blocking([&] {
          for (int spin = 0; spin < (n % 64) * 16; ++spin) asm volatile("" ::: "memory");
          if (n % 16 == 0) ::poll(nullptr, 0, 0);
        });
        ++sum;
        if (n % 8 == 0) weft::yield();
      }
    });
  }
  wg.wait();
  EXPECT_EQ(sum, 6 * weft::test::scaled(400));
}

// B056: a call returns while the world is stopped.
TEST_FOR_PROCS(blocking_race, calls_return_while_the_world_stops_and_are_not_lost) {
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0};
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([&] {
      while (!stop) {
        weft::blocking([] { std::this_thread::yield(); });
        ++calls;
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(40); ++i)
    weft::max_procs(1 + static_cast<unsigned>(i % 4));
  const int before = calls;
  EXPECT_TRUE(weft::test::eventually([&] { return calls > before + 4; }));
  stop = true;
  wg.wait();
}

// HAZARD 15
TEST_FOR_PROCS(blocking_race, lock_unlock_and_blocking_storm) {
  weft::wait_group wg;
  for (int i = 0; i < 6; ++i) {
    wg.go([&, i] {
      for (int n = 0; n < weft::test::scaled(100); ++n) {
        weft::lock_os_thread();
        const int tid = weft::test::thread_id();
        weft::blocking([&] {
          if ((n + i) % 4 == 0) std::this_thread::yield();
        });
        ASSERT_EQ(weft::test::thread_id(), tid);
        weft::yield();
        ASSERT_EQ(weft::test::thread_id(), tid);
        if (n % 3 == 0) weft::blocking([] { std::this_thread::yield(); });
        weft::unlock_os_thread();
        weft::blocking([] {});
      }
    });
  }
  wg.wait();
}

}  // namespace
