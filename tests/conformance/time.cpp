// time.cpp: sleeping: never early, for ever when told so, in order, by anyone, whatever signals arrive (B190, B197, B199, B200, B217,
// B064; HAZARDS 17, 18, 23).
//
// Nothing here says how late a sleep may be. Limits that are there only end a hang.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/time.hpp>
#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/on_a_thread.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;
using weft::test::on_a_thread;

// How much earlier than asked for a sleep ended: negative is what everyone wants.
template <class F>
std::chrono::nanoseconds earliness(std::chrono::nanoseconds asked, F sleep) {
  const auto began = weft::clock::now();
  sleep();
  return asked - (weft::clock::now() - began);
}

// What the conversions promise, before anybody sleeps.
using weft::detail::to_ns;
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();

TEST(clock, meets_the_requirements_of_a_clock) {
  static_assert(weft::clock::is_steady);
  static_assert(std::is_same_v<weft::clock::duration, std::chrono::nanoseconds>);
  static_assert(std::is_same_v<weft::clock::time_point::clock, weft::clock>);
  static_assert(std::is_same_v<weft::time_point, weft::clock::time_point>);
  static_assert(noexcept(weft::clock::now()));
  const auto a = weft::clock::now();
  const auto b = weft::clock::now();
  EXPECT_LE(a, b);
}

TEST(clock, is_the_steady_clock_of_the_machine) {
  const auto before = steady_clock::now().time_since_epoch();
  const auto now = weft::clock::now().time_since_epoch();
  const auto after = steady_clock::now().time_since_epoch();
  EXPECT_LE(before, now);
  EXPECT_LE(now, after);
}

TEST(durations, are_rounded_up_to_whole_nanoseconds) {
  using ps = std::chrono::duration<std::int64_t, std::pico>;
  EXPECT_EQ(to_ns(ps(0)), 0);
  EXPECT_EQ(to_ns(ps(1)), 1);
  EXPECT_EQ(to_ns(ps(1000)), 1);
  EXPECT_EQ(to_ns(ps(1001)), 2);
  EXPECT_EQ(to_ns(ps(-999)), 0);
  EXPECT_EQ(to_ns(ps(-1000)), -1);
  EXPECT_EQ(to_ns(std::chrono::duration<std::int64_t, std::ratio<1, 3>>(1)), 333'333'334);
  EXPECT_EQ(to_ns(std::chrono::duration<double>(1e-12)), 1);
  EXPECT_EQ(to_ns(std::chrono::duration<double>(0.25)), 250'000'000);
  EXPECT_EQ(to_ns<weft::detail::rounding::down>(ps(1999)), 1);
  EXPECT_EQ(to_ns<weft::detail::rounding::down>(ps(-1)), -1);
}

TEST(durations, end_where_the_clock_ends) {
  EXPECT_EQ(to_ns(std::chrono::hours::max()), kLast);
  EXPECT_EQ(to_ns(std::chrono::hours::min()), kFirst);
  EXPECT_EQ(to_ns(std::chrono::nanoseconds::max()), kLast);
  EXPECT_EQ(to_ns(std::chrono::nanoseconds::min()), kFirst);
  EXPECT_EQ(to_ns(std::chrono::duration<std::uint64_t>(~std::uint64_t{0})), kLast);
  EXPECT_EQ(to_ns(std::chrono::duration<double>(1e300)), kLast);
  EXPECT_EQ(to_ns(std::chrono::duration<double>(-1e300)), kFirst);
  EXPECT_EQ(to_ns(std::chrono::duration<double>(HUGE_VAL)), kLast);
  EXPECT_EQ(to_ns(std::chrono::duration<double>(-HUGE_VAL)), kFirst);
  EXPECT_EQ(to_ns(std::chrono::duration<float>(std::nanf(""))), 0);
  EXPECT_EQ(weft::detail::deadline_in(kLast), kLast);
  EXPECT_EQ(weft::detail::deadline_in(kLast - 1), kLast);
}

// B190
TEST_FOR_PROCS(sleep, is_never_shorter_than_asked_for) {
  weft::wait_group wg;
  std::atomic<int> early{0};
  for (int g = 0; g < 50; ++g) {
    wg.go([&, g] {
      for (int i = 0; i < weft::test::scaled(20); ++i) {
        const auto asked = std::chrono::nanoseconds(1 + (g * 7919 + i * 104'729) % 3'000'000);
        if (earliness(asked, [&] { weft::sleep_for(asked); }) > 0ns) ++early;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(early, 0);
}

TEST_FOR_PROCS(sleep, until_a_time_of_any_clock_is_never_early) {
  for (int i = 0; i < weft::test::scaled(20); ++i) {
    const auto own = weft::clock::now() + 700us;
    weft::sleep_until(own);
    EXPECT_GE(weft::clock::now(), own);
    const auto steady = steady_clock::now() + 700us;
    weft::sleep_until(steady);
    EXPECT_GE(steady_clock::now(), steady);
    const auto system = system_clock::now() + 700us;
    weft::sleep_until(system);
    EXPECT_GE(system_clock::now(), system);
    const auto coarse = std::chrono::ceil<std::chrono::milliseconds>(system_clock::now());
    weft::sleep_until(coarse);
    EXPECT_GE(system_clock::now(), coarse);
  }
}

// A clock that is set back while somebody sleeps by it: it is asked again, until it has come to the time.
struct settable_clock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<settable_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() { return time_point(duration(nlooks++ < 5 ? 0 : 1000)); }
  static inline int nlooks = 0;
};

TEST_FOR_PROCS(sleep, looks_again_at_a_clock_that_may_have_been_set) {
  settable_clock::nlooks = 0;
  const auto asked = 5 * 2ms;  // five looks say that two milliseconds are missing
  EXPECT_LE(earliness(asked, [] { weft::sleep_until(settable_clock::time_point(2ms)); }), 0ns);
  EXPECT_EQ(settable_clock::nlooks, 6);
}

// B197, B199: nothing to wait for. The others get a turn, and the sleeper comes back.
TEST_FOR_PROCS(sleep, of_nothing_or_less_lets_others_run_and_returns) {
  weft::sleep_for(0s);
  weft::sleep_for(-1s);
  weft::sleep_for(std::chrono::nanoseconds::min());
  weft::sleep_for(std::chrono::hours::min());
  weft::sleep_for(std::chrono::duration<double>(-HUGE_VAL));
  weft::sleep_for(std::chrono::duration<double>(std::nan("")));
  weft::sleep_until(weft::time_point{});
  weft::sleep_until(weft::time_point::min());
  weft::sleep_until(weft::clock::now());
  weft::sleep_until(steady_clock::time_point::min());
  weft::sleep_until(system_clock::time_point::min());
  weft::sleep_until(std::chrono::time_point<system_clock, std::chrono::hours>::min());
}

TEST(sleep, of_nothing_is_a_turn_for_others) {
  if (weft::test::is_unkind())
    GTEST_SKIP() << "two threads take turns, or the sleeper is chosen again";
  weft::test::run_on(1, [] {
    bool ran = false;
    weft::go([&] { ran = true; });
    weft::sleep_for(0s);
    EXPECT_TRUE(ran) << "on one P the sleeper must have made room";
  });
}

// B197: sleepers that never wake do not disturb those that do, and end with the runtime.
TEST_FOR_PROCS(sleep, for_ever_neither_returns_nor_disturbs_others) {
  static std::atomic<int> returned;
  returned = 0;
  weft::go([] { weft::sleep_for(std::chrono::nanoseconds::max()), ++returned; });
  weft::go([] { weft::sleep_for(std::chrono::hours::max()), ++returned; });
  weft::go([] { weft::sleep_for(std::chrono::duration<double>(HUGE_VAL)), ++returned; });
  weft::go([] { weft::sleep_for(std::chrono::nanoseconds::max() - 1ns), ++returned; });
  weft::go([] { weft::sleep_until(weft::time_point::max()), ++returned; });
  weft::go([] { weft::sleep_until(steady_clock::time_point::max()), ++returned; });
  weft::go([] {
    weft::sleep_until(std::chrono::time_point<system_clock, std::chrono::hours>::max()), ++returned;
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_LE(earliness(1ms, [] { weft::sleep_for(1ms); }), 0ns);
  }
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(weft::num_goroutines(), 8u);
}

// B193: far enough apart that no machine confuses them; the test fails by order, not by time.
TEST_FOR_PROCS(sleep, those_who_sleep_wake_in_the_order_of_their_deadlines) {
  const std::array<int, 13> slots = {5, 3, 6, 6, 6, 1, 1, 2, 7, 9, 4, 8, 0};
  std::vector<std::pair<weft::time_point, int>> woken;
  std::mutex lock;  // held for a moment, and nobody switches under it
  weft::wait_group wg;
  const auto base = weft::clock::now() + 50ms;
  for (const int slot : slots) {
    wg.go([&, slot] {
      weft::sleep_until(base + slot * 100ms);
      const auto now = weft::clock::now();
      EXPECT_GE(now, base + slot * 100ms);
      const std::lock_guard guard(lock);
      woken.emplace_back(now, slot);
    });
  }
  wg.wait();
  ASSERT_EQ(woken.size(), slots.size());
  for (std::size_t i = 1; i < woken.size(); ++i) {
    // One that is so late that the next deadline has passed as well says nothing about order.
    if (woken[i].first >= base + (woken[i].second + 1) * 100ms) continue;
    EXPECT_LE(woken[i - 1].second, woken[i].second);
  }
}

TEST_FOR_PROCS(sleep, a_hundred_thousand_all_wake) {
  constexpr int kMany = weft::test::scaled(100'000);
  std::atomic<int> woken{0};
  std::atomic<int> early{0};
  weft::wait_group wg;
  for (int i = 0; i < kMany; ++i) {
    wg.go([&, i] {
      const auto until = weft::clock::now() + std::chrono::microseconds(i * 7919 % 200'000);
      weft::sleep_until(until);
      if (weft::clock::now() < until) ++early;
      ++woken;
    });
  }
  wg.wait();
  EXPECT_EQ(woken, kMany);
  EXPECT_EQ(early, 0);
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }));
}

// B200, HAZARD 17: sleeps of next to nothing, while the scheduler is about to go idle.
TEST_FOR_PROCS(sleep_race, the_shortest_sleeps_are_never_missed) {
  weft::wait_group wg;
  std::atomic<int> nwoken{0};
  constexpr int kRounds = weft::test::scaled(10'000);
  for (int g = 0; g < 4; ++g) {
    wg.go([&, g] {
      for (int i = 0; i < kRounds; ++i) {
        weft::sleep_for(std::chrono::nanoseconds((i + g) % 3 == 0 ? 1 : i % 500));
        ++nwoken;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(nwoken, 4 * kRounds);
}

// An earlier sleeper comes while everyone sleeps for long: it does not wait for them.
TEST_FOR_PROCS(sleep, a_short_sleep_does_not_wait_for_a_long_one) {
  weft::go([] { weft::sleep_for(1h); });
  on_a_thread([] {
    for (int i = 0; i < 50; ++i) {
      weft::spawn([] { weft::sleep_for(100us); }).join();  // ctest's limit ends it if it hangs
    }
  });
}

// HAZARD 18, B217: Ps come and go under those who sleep.
TEST_FOR_PROCS(sleep_race, sleepers_survive_that_their_p_is_retired) {
  const unsigned before = weft::max_procs();
  std::atomic<int> woken{0};
  weft::wait_group wg;
  constexpr int kSleepers = 1000;
  for (int i = 0; i < kSleepers; ++i) {
    wg.go([&, i] {
      for (int round = 0; round < 3; ++round)
        weft::sleep_for(std::chrono::microseconds(i * 17 % 20'000));
      ++woken;
    });
  }
  for (int i = 0; woken < kSleepers; ++i) {
    weft::max_procs(1 + static_cast<unsigned>(i) % 4);
    weft::sleep_for(500us);
  }
  wg.wait();
  weft::max_procs(before);
  EXPECT_EQ(woken, kSleepers);
}

TEST_FOR_PROCS(sleep, works_on_a_plain_thread) {
  on_a_thread([] {
    const int tid = weft::test::thread_id();
    EXPECT_LE(earliness(2ms, [] { weft::sleep_for(2ms); }), 0ns);
    const auto until = steady_clock::now() + 2ms;
    weft::sleep_until(until);
    EXPECT_GE(steady_clock::now(), until);
    weft::sleep_for(0s);
    weft::sleep_for(-1s);
    EXPECT_EQ(weft::test::thread_id(), tid);
  });
}

TEST(sleep, works_without_a_runtime) {
  EXPECT_LE(earliness(2ms, [] { weft::sleep_for(2ms); }), 0ns);
  weft::sleep_for(0s);
  weft::sleep_until(weft::clock::now() - 1s);
}

// B064, HAZARD 23: a signal every few hundred microseconds, to every thread in turn: the sleep is not cut short, and not begun anew each time,
// in which case it would never end.
TEST_FOR_PROCS(sleep, a_storm_of_signals_neither_cuts_nor_prolongs_it) {
  struct sigaction ours{};
  struct sigaction old{};
  ours.sa_handler = [](int) {};  // no SA_RESTART: every system call of the sleep is interrupted
  ASSERT_EQ(::sigaction(SIGUSR2, &ours, &old), 0);
  std::atomic<bool> stop{false};
  std::atomic<bool> is_sleeping{false};
  std::atomic<::pthread_t> plain{};
  std::atomic<int> nsent{0};
  std::thread storm([&] {
    while (!stop) {
      ::kill(::getpid(), SIGUSR2);
      if (is_sleeping) ::pthread_kill(plain, SIGUSR2);
      ++nsent;
      std::this_thread::sleep_for(300us);
    }
  });
  std::thread sleeper([&] {
    plain = ::pthread_self();
    is_sleeping = true;
    EXPECT_LE(earliness(100ms, [] { weft::sleep_for(100ms); }), 0ns);
    is_sleeping = false;
    while (!stop) std::this_thread::yield();  // alive as long as it is signalled
  });
  weft::wait_group wg;
  for (int i = 0; i < 10; ++i) {
    wg.go([&] { EXPECT_LE(earliness(100ms, [] { weft::sleep_for(100ms); }), 0ns); });
  }
  EXPECT_LE(earliness(100ms, [] { weft::sleep_for(100ms); }), 0ns);
  wg.wait();
  ASSERT_TRUE(weft::test::eventually([&] { return !is_sleeping; }));
  stop = true;
  weft::blocking([&] {
    storm.join();
    sleeper.join();
  });
  EXPECT_GT(nsent, 0);
  ASSERT_EQ(::sigaction(SIGUSR2, &old, nullptr), 0);
}

// The exception that is being handled belongs to the goroutine, and goes with it to whichever thread it wakes on.
TEST_FOR_PROCS(sleep, works_in_a_catch_block) {
  weft::wait_group wg;
  std::atomic<int> right{0};
  constexpr int kSleepers = 50;
  for (int i = 0; i < kSleepers; ++i) {
    wg.go([&, i] {
      try {
        throw std::runtime_error(std::to_string(i));
      } catch (const std::runtime_error&) {
        weft::sleep_for(std::chrono::microseconds(i % 7 * 300));
        try {
          throw;
        } catch (const std::runtime_error& e) {
          if (e.what() == std::to_string(i) && std::uncaught_exceptions() == 0) ++right;
        }
      }
    });
  }
  wg.wait();
  EXPECT_EQ(right, kSleepers);
}

// B047, B049: a sleeper gets its turn though the others never stop.
TEST_FOR_PROCS(sleep, wakes_although_others_are_always_runnable) {
  std::atomic<bool> stop{false};
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([&] {
      while (!stop) weft::yield();
    });
  }
  weft::event ping;
  weft::event pong;
  wg.go([&] {
    while (!stop) {
      ping.wait();
      ping.reset();
      pong.set();
    }
    pong.set();  // whichever sees the end first, the other is not left waiting
  });
  wg.go([&] {
    while (!stop) {
      ping.set();
      pong.wait();
      pong.reset();
    }
    ping.set();
  });
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(earliness(1ms, [] { weft::sleep_for(1ms); }), 0ns);
  }
  stop = true;
  wg.wait();
}

// The same as Go does it: two keep a channel busy for ever, and one of them is always runnable. They give up after a while, so that a timer that
// never comes is a failure and not a hang.
class busy_channel {
 public:
  explicit busy_channel(std::size_t cap) {
    const auto c = weft::make_chan<int>(cap);
    wg_.go([this, c] {
      const auto limit = std::chrono::steady_clock::now() + 30s;
      while (!stop_ && std::chrono::steady_clock::now() < limit) c.send(1);
      was_in_time_ = stop_;
      c.close();
    });
    wg_.go([this, c] {
      while (c.recv()) ++nvalues_;
    });
  }
  void stop() { stop_ = true; }
  // Whether somebody has stopped it in time.
  [[nodiscard]] bool ends() {
    wg_.wait();
    return was_in_time_;
  }
  int values() const { return nvalues_; }

 private:
  std::atomic<bool> stop_{false};
  bool was_in_time_ = false;
  std::atomic<int> nvalues_{0};
  weft::wait_group wg_;
};

TEST_FOR_PROCS(sleep, wakes_although_two_keep_a_channel_busy) {
  for (const std::size_t cap : {0U, 1U}) {
    busy_channel busy(cap);
    for (int i = 0; i < 10; ++i) {
      EXPECT_LE(earliness(1ms, [] { weft::sleep_for(1ms); }), 0ns);
    }
    EXPECT_LE(earliness(1ms, [] { weft::after(1ms).recv(); }), 0ns);
    busy.stop();
    EXPECT_TRUE(busy.ends());
    EXPECT_GT(busy.values(), 0);
  }
}

// B049: nobody but the timer's own goroutine ends them, and there is no other that sleeps.
TEST_FOR_PROCS(after_func, runs_although_two_keep_a_channel_busy) {
  for (const std::size_t cap : {0U, 1U}) {
    for (int i = 0; i < 5; ++i) {
      busy_channel busy(cap);
      const auto t = weft::after_func(1ms, [&busy] { busy.stop(); });
      EXPECT_TRUE(busy.ends());
    }
  }
}

TEST_FOR_PROCS(sleep, leaves_no_goroutine_behind) {
  EXPECT_EQ(weft::num_goroutines(), 1u);
  for (int i = 0; i < 100; ++i) weft::go([] { weft::sleep_for(1ms); });
  EXPECT_GT(weft::num_goroutines(), 1u);
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }));
}

// Sleepers of a runtime that has ended never wake, and those of the next one are not confused with them.
TEST(sleep, ends_with_its_runtime) {
  static std::atomic<int> returned;
  returned = 0;
  for (int round = 0; round < 5; ++round) {
    weft::test::run_on(2, [] {
      for (int i = 0; i < 20; ++i) {
        weft::go([] {
          weft::sleep_for(20ms);
          ++returned;
        });
      }
      weft::sleep_for(1ms);
    });
  }
  const int before = returned;  // usually 0; a slow machine may have let some through in time
  weft::test::run_on(2, [] { weft::sleep_for(50ms); });
  EXPECT_EQ(returned, before) << "a goroutine of an ended runtime woke";
}

}  // namespace
