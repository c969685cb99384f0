// timers.cpp: timer, ticker, after and after_func (B189, B191, B193-B196, B200-B203, B205-B209, B211, B212, B214, B215).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/testing/bubble.hpp>
#include <weft/weft.hpp>

#include "support/for_procs.hpp"

using namespace std::chrono_literals;
using weft::test::eventually;

namespace {

TEST_FOR_PROCS(timer, fires_once_and_never_early) {
  const auto began = weft::clock::now();
  const weft::timer t(3ms);
  const std::optional<weft::time_point> when = t.chan().recv();
  ASSERT_TRUE(when.has_value());
  EXPECT_GE(*when, began + 3ms);
  EXPECT_GE(weft::clock::now(), *when);
  EXPECT_EQ(t.chan().recv_for(3ms), std::nullopt) << "once";
}

TEST_FOR_PROCS(timer, after_never_fires_early) {
  for (const auto d : {0ms, 1ms, 2ms, 5ms}) {
    const auto began = weft::clock::now();
    EXPECT_GE(*weft::after(d).recv(), began + d);
  }
  EXPECT_TRUE(weft::after(-1h).recv().has_value()) << "at once";
}

// B193
// What thirteen waited for, in the order in which they had done so.
template <class Unit>
std::vector<int> in_order_of_arrival() {
  const auto order = weft::make_chan<int>(13);
  for (const int n : {50, 30, 60, 80, 10, 90, 20, 70, 40, 50, 30, 20, 10})
    weft::go([=] {
      weft::after(Unit(n)).recv();
      order.send(n);
    });
  std::vector<int> arrived;
  for (int i = 0; i < 13; ++i) arrived.push_back(*order.recv());
  return arrived;
}

// By a clock that stands still while anybody runs: by the machine's, one may wait for a CPU longer than lies between two of them.
TEST_FOR_PROCS(timer, those_that_are_due_first_fire_first) {
  weft::testing::bubble([] {
    const std::vector<int> arrived = in_order_of_arrival<std::chrono::milliseconds>();
    EXPECT_TRUE(std::is_sorted(arrived.begin(), arrived.end()));
  });
}

TEST_FOR_PROCS(timer, all_that_are_due_at_different_times_fire) {
  std::vector<int> arrived = in_order_of_arrival<std::chrono::microseconds>();
  std::sort(arrived.begin(), arrived.end());
  EXPECT_EQ(arrived, (std::vector<int>{10, 10, 20, 20, 30, 30, 40, 50, 50, 60, 70, 80, 90}));
}

TEST_FOR_PROCS(timer, stop_before_it_fires_prevents_it) {
  weft::timer t(1h);
  EXPECT_TRUE(t.stop());
  EXPECT_FALSE(t.stop()) << "a second time there is nothing to stop";
  EXPECT_EQ(t.chan().try_recv(), std::nullopt);
  weft::timer soon(1ms);
  soon.chan().recv();
  EXPECT_FALSE(soon.stop()) << "it was received";
}

TEST_FOR_PROCS(timer, stop_takes_back_what_nobody_received) {
  weft::timer t(0ms);
  weft::sleep_for(2ms);
  EXPECT_TRUE(t.stop());
  EXPECT_EQ(t.chan().recv_for(2ms), std::nullopt) << "a stale time";
}

TEST_FOR_PROCS(timer, reset_moves_it) {
  weft::timer t(1h);
  EXPECT_TRUE(t.reset(1ms));
  const auto began = weft::clock::now();
  EXPECT_TRUE(t.chan().recv().has_value());
  EXPECT_LT(weft::clock::now() - began, 1h);
  EXPECT_FALSE(t.reset(1h)) << "it had been received";
  EXPECT_TRUE(t.reset(0ms));
  EXPECT_TRUE(t.chan().recv().has_value());
  t.reset(0ms);
  weft::sleep_for(2ms);
  EXPECT_TRUE(t.reset(1h)) << "fired, but not received";
  EXPECT_EQ(t.chan().try_recv(), std::nullopt) << "a stale time";
}

TEST_FOR_PROCS(timer, shows_no_buffer) {
  const weft::timer t(0ms);
  weft::sleep_for(1ms);
  // Mostly it has fired. Whoever fires it may wait for a CPU, though, while the one of our sleep is fired by another thread.
  EXPECT_TRUE(eventually([&] {
    EXPECT_EQ(t.chan().len(), 0u);
    EXPECT_EQ(t.chan().cap(), 0u);
    return t.chan().try_recv().has_value();
  }));
}

// What is due is there, whether or not the scheduler has come to it: who looks at that very moment mostly is the first to know.
void compute_until(weft::time_point when) {
  const weft::no_preempt to_the_end;
  while (weft::clock::now() < when) continue;
}

constexpr auto kSoon = 30us;
constexpr int kLooks = 200;

// A timer that is due, and has been for a moment only.
weft::timer due_timer() {
  weft::timer t(kSoon);
  compute_until(weft::clock::now() + kSoon);
  return t;
}

TEST_FOR_PROCS(timer, that_is_due_is_found_by_whoever_looks) {
  for (int i = 0; i < kLooks; ++i) {
    const auto began = weft::clock::now();
    const weft::timer t = due_timer();
    const std::optional<weft::time_point> when = t.chan().try_recv();
    ASSERT_TRUE(when.has_value()) << "in round " << i;
    ASSERT_GE(*when, began + kSoon);
    ASSERT_LE(*when, weft::clock::now());
    ASSERT_EQ(t.chan().len(), 0u);
    ASSERT_EQ(t.chan().try_recv(), std::nullopt) << "once";
  }
}

TEST_FOR_PROCS(timer, that_is_due_is_found_by_those_that_do_not_wait) {
  const auto silent = weft::make_chan<int>();
  const auto found = [&](auto look) {
    for (int i = 0; i < kLooks; ++i) {
      const weft::timer t = due_timer();
      ASSERT_TRUE(look(t.chan())) << "in round " << i;
    }
  };
  using clock_chan = weft::recv_chan<weft::time_point>;
  found([](const clock_chan& c) { return c.recv_for(0ms).has_value(); });
  found([](const clock_chan& c) {
    return weft::select(weft::on_recv(c), weft::otherwise([] {})) == 0;
  });
  found([&](const clock_chan& c) {
    return weft::select(weft::on_recv(silent), weft::on_recv(c), weft::otherwise([] {})) == 1;
  });
  found([&](const clock_chan& c) {
    weft::select_list l;
    l.add(weft::on_recv(silent));
    l.add(weft::on_recv(c));
    return l.try_now() == 1;
  });
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  found([](clock_chan c) { return weft::after(-1ms).try_recv() && c.try_recv(); });
}

TEST_FOR_PROCS(timer, that_is_due_is_as_ready_as_what_is_there) {
  const auto full = weft::make_chan<int>(1);
  full.send(1);
  int ntimes = 0;
  for (int i = 0; i < 2 * kLooks; ++i) {
    const weft::timer t = due_timer();
    if (weft::select(weft::on_recv(full, [&](auto) { full.send(1); }), weft::on_recv(t.chan())) ==
        1)
      ++ntimes;
  }
  EXPECT_GT(ntimes, kLooks / 2);  // seldomer than by one chance in 2^90
  EXPECT_LT(ntimes, 2 * kLooks - kLooks / 2);
}

TEST_FOR_PROCS(timer, that_is_due_is_found_by_a_plain_thread) {
  std::thread other([] {
    for (int i = 0; i < kLooks; ++i) ASSERT_TRUE(due_timer().chan().try_recv().has_value());
  });
  weft::blocking([&] { other.join(); });
}

TEST_FOR_PROCS(timer, that_is_due_in_a_bubble_is_found_there) {
  weft::testing::bubble([] {
    for (int i = 0; i < 20; ++i) {
      const weft::timer before(1ms);
      const auto wake_up = weft::clock::now() + 1ms;
      const weft::timer beside(1ms);
      weft::sleep_until(wake_up);
      ASSERT_EQ(before.chan().try_recv(), wake_up);
      ASSERT_EQ(beside.chan().try_recv(), wake_up);
      const weft::timer after(1ms);
      ASSERT_EQ(after.chan().try_recv(), std::nullopt);
    }
  });
}

// Its time is up: stop() and reset() still say whether it was received.
TEST_FOR_PROCS(timer, that_is_due_can_be_stopped_until_it_is_received) {
  for (int i = 0; i < kLooks; ++i) {
    weft::timer t = due_timer();
    ASSERT_TRUE(t.stop());
    ASSERT_EQ(t.chan().try_recv(), std::nullopt);
    weft::timer moved = due_timer();
    ASSERT_TRUE(moved.reset(1h));
    ASSERT_EQ(moved.chan().try_recv(), std::nullopt);
    weft::timer received = due_timer();
    ASSERT_TRUE(received.chan().try_recv());
    ASSERT_FALSE(received.reset(kSoon));
    compute_until(weft::clock::now() + kSoon);
    ASSERT_TRUE(received.chan().try_recv()) << "again";
    ASSERT_FALSE(received.stop());
  }
}

// Nobody comes to fire it any more, but whoever looks may.
TEST(timer_alone, that_is_due_after_its_runtime_is_found_by_whoever_looks) {
  std::optional<weft::timer> once;
  std::optional<weft::timer> later;
  std::optional<weft::ticker> often;
  weft::run({.max_procs = 1}, [&] {
    once.emplace(1ms);
    later.emplace(1h);
    often.emplace(1ms);
  });
  compute_until(weft::clock::now() + 2ms);
  EXPECT_TRUE(once->chan().try_recv());
  EXPECT_FALSE(once->chan().try_recv()) << "once";
  EXPECT_FALSE(once->stop());
  EXPECT_FALSE(later->chan().try_recv());
  EXPECT_TRUE(later->stop());
  EXPECT_TRUE(often->chan().try_recv());
}

static_assert(!std::is_copy_constructible_v<weft::timer> &&
              std::is_move_constructible_v<weft::timer>);

TEST_FOR_PROCS(timer, one_that_was_moved_from_says_so) {
  weft::timer t(1h);
  const weft::timer taken = std::move(t);
  EXPECT_THROW(t.stop(), std::logic_error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(t.reset(1ms), std::logic_error);
}

TEST(timer_alone, without_a_runtime_there_is_none) {
  EXPECT_THROW((void)weft::after(1ms), weft::not_running);
  EXPECT_THROW(weft::timer(1ms), weft::not_running);
}

// B214: what cannot be received costs nothing.
TEST_FOR_PROCS(timer, a_million_that_are_dropped_leave_nothing) {
  const int n = weft::test::as_often_as_go(1'000'000, 100'000);
  for (int i = 0; i < n; ++i) {
    const weft::timer t(1h);
    if (i % 3 == 0) (void)weft::after(1h);
  }
}

TEST_FOR_PROCS(timer, its_channel_outlives_it) {
  std::optional<weft::timer> t(2ms);
  const weft::recv_chan<weft::time_point> c = t->chan();
  t.reset();
  EXPECT_TRUE(c.recv().has_value());
}

// B203: what stop() says is what can be received, however it races with the firing.
TEST_FOR_PROCS(timer_race, stop_and_the_time_agree) {
  for (int i = 0; i < 400; ++i) {
    weft::timer t(std::chrono::microseconds(i % 60));
    if (i % 2 == 0) weft::yield();
    t.stop();
    ASSERT_EQ(t.chan().try_recv(), std::nullopt) << "after stop, in round " << i;
  }
  int nreceived = 0;
  int nstopped = 0;
  for (int i = 0; i < 400; ++i) {
    weft::timer t(std::chrono::microseconds(i % 60));
    const auto end = weft::make_chan<void>();
    auto receiver = weft::spawn(
        [c = t.chan(), end] { return weft::select(weft::on_recv(c), weft::on_recv(end)) == 0; });
    if (i % 3 == 0) weft::sleep_for(std::chrono::microseconds(i % 50));
    const bool was_stopped = t.stop();
    end.close();
    // Closed and fired at once, either may be chosen: only a time that was stopped can surely not have been received.
    const bool was_received = receiver.join();
    ASSERT_FALSE(was_stopped && was_received) << "in round " << i;
    nreceived += was_received ? 1 : 0;
    nstopped += was_stopped ? 1 : 0;
  }
  EXPECT_LE(nreceived + nstopped, 400);
}

// Many look at a timer at the moment at which it is due, and somebody stops it: one of them has it, or it was stopped.
TEST_FOR_PROCS(timer_race, stop_and_those_who_look_agree) {
  for (int i = 0; i < 300; ++i) {
    weft::timer t(std::chrono::microseconds(i % 60));
    std::atomic<int> nreceived{0};
    std::atomic<bool> ended{false};
    weft::wait_group wg;
    for (int g = 0; g < 3; ++g)
      wg.go([&] {
        while (!ended) {
          if (t.chan().try_recv()) ++nreceived;
          weft::yield();
        }
      });
    for (int n = i % 7; n > 0; --n) weft::yield();
    const bool was_stopped = i % 2 == 0 ? t.stop() : t.reset(1h);
    weft::yield();
    ended = true;
    wg.wait();
    ASSERT_EQ(nreceived, was_stopped ? 0 : 1) << "in round " << i;
  }
}

// B207
TEST_FOR_PROCS(timer_race, reset_and_stop_from_many_goroutines) {
  weft::timer t(1h);
  weft::wait_group wg;
  for (int g = 0; g < 6; ++g)
    wg.go([&t, g] {
      for (int i = 0; i < 300; ++i) {
        if ((i + g) % 3 == 0) {
          t.stop();
        } else {
          t.reset(std::chrono::microseconds(i % 40));
        }
        t.chan().try_recv();
      }
    });
  wg.wait();
  t.stop();
  EXPECT_EQ(t.chan().recv_for(2ms), std::nullopt);
}

// B200
TEST_FOR_PROCS(timer, many_of_no_time_all_fire) {
  const int n = weft::test::as_often_as_go(1'000'000, 20'000);
  for (int i = 0; i < n;
       ++i)  // recv(), which does not look by itself: ctest's limit ends it if it hangs
    ASSERT_TRUE(weft::after(0ms).recv().has_value());
}

// B213: one who sleeps is woken in between.
TEST_FOR_PROCS(timer, many_that_are_moved_all_the_time_hold_nobody_up) {
  std::vector<weft::timer> timers;
  for (int i = 0; i < weft::test::scaled(50'000); ++i) timers.emplace_back(1h);
  std::atomic<bool> ended{false};
  auto sleeper = weft::spawn([&] {
    int nwakes = 0;
    for (; !ended; ++nwakes) weft::sleep_for(1ms);
    return nwakes;
  });
  int nearly = 0;
  for (int round = 0; round < 20; ++round) {
    for (weft::timer& each : timers) nearly += each.reset(1h + std::chrono::seconds(round)) ? 0 : 1;
    weft::checkpoint();
  }
  ended = true;
  EXPECT_EQ(nearly, 0);
  EXPECT_GE(sleeper.join(), 3);
}

TEST_FOR_PROCS(timer, a_plain_thread_can_wait_for_it) {
  std::atomic<bool> has_fired{false};
  std::thread other([&] {
    const weft::timer t(2ms);
    has_fired = t.chan().recv().has_value();
  });
  weft::blocking([&] { other.join(); });
  EXPECT_TRUE(has_fired);
}

TEST_FOR_PROCS(timer, in_a_select) {
  const auto c = weft::make_chan<int>();
  EXPECT_EQ(weft::select(weft::on_recv(c), weft::on_recv(weft::after(1ms))), 1u);
  weft::go([c] { c.send(1); });
  EXPECT_EQ(weft::select(weft::on_recv(c), weft::on_recv(weft::after(1h))), 0u);
}

TEST(timer_alone, outlives_its_runtime) {
  std::optional<weft::timer> kept;
  std::optional<weft::recv_chan<weft::time_point>> channel;
  weft::run({.max_procs = 2}, [&] {
    kept.emplace(1h);
    channel = weft::after(1h);
  });
  channel.reset();
  weft::run({.max_procs = 2}, [&] {
    kept->reset(1ms);
    EXPECT_TRUE(kept->chan().recv().has_value());
    kept->reset(1h);
  });
  kept.reset();
}

// A plain thread may move a timer at any moment of the runtime's end, also when nothing is left of it but its threads.
TEST(timer_alone_race, may_be_moved_while_its_runtime_ends_and_dropped_afterwards) {
  for (int i = 0; i < 10; ++i) {
    std::vector<weft::timer> kept;
    std::atomic<bool> has_begun{false};
    std::atomic<bool> is_over{false};
    std::thread mover;
    weft::run({.max_procs = 2}, [&] {
      for (int n = 0; n < 10'000; ++n) kept.emplace_back(1h);
      mover = std::thread([&] {
        for (std::size_t n = 0; !is_over; ++n) {
          kept[n % kept.size()].reset(1h);
          has_begun = true;
        }
      });
      while (!has_begun) weft::yield();
    });
    is_over = true;
    mover.join();
    kept.clear();
  }
}

// --- tickers ---

TEST_FOR_PROCS(ticker, ticks_at_its_period_and_not_faster) {
  const auto began = weft::clock::now();
  weft::ticker t(2ms);
  weft::time_point last = began;
  for (int i = 1; i <= 5; ++i) {
    const weft::time_point now = *t.chan().recv();
    EXPECT_GE(now - began, i * 2ms);
    EXPECT_GT(now, last);
    last = now;
  }
  t.stop();
  EXPECT_EQ(t.chan().recv_for(6ms), std::nullopt);
  t.reset(1ms);
  EXPECT_TRUE(t.chan().recv().has_value());
}

// A range-for keeps what its expression gives, and not what that came from.
TEST_FOR_PROCS(ticker, goes_on_for_whoever_has_only_its_channel) {
  int nticks = 0;
  for (const weft::time_point now : weft::ticker(1ms).chan()) {
    EXPECT_LE(now, weft::clock::now());
    if (++nticks == 3) break;
  }
  EXPECT_EQ(nticks, 3);
  EXPECT_TRUE(weft::timer(1ms).chan().recv());
}

TEST_FOR_PROCS(ticker, drops_ticks_for_a_slow_receiver) {
  const weft::ticker t(1ms);
  weft::sleep_for(20ms);
  EXPECT_TRUE(t.chan().try_recv().has_value());
  int n = 0;
  while (t.chan().try_recv()) ++n;
  EXPECT_LE(n, 1) << "those that nobody took in time are gone";
}

TEST_FOR_PROCS(ticker, that_is_due_is_found_by_whoever_looks) {
  const auto began = weft::clock::now();
  const weft::ticker t(kSoon);
  for (int i = 1; i <= kLooks; ++i) {
    compute_until(weft::clock::now() + kSoon);  // so one at least has come
    const std::optional<weft::time_point> when = t.chan().try_recv();
    ASSERT_TRUE(when.has_value()) << "in round " << i;
    ASSERT_GE(*when, began + i * kSoon);
  }
}

// By looking alone: as many as there were periods, and no more.
TEST_FOR_PROCS(ticker, ticks_no_faster_for_those_who_look_all_the_time) {
  const auto began = weft::clock::now();
  const weft::ticker t(200us);
  for (int i = 1; i <= 20;) {
    const std::optional<weft::time_point> when = t.chan().try_recv();
    if (!when) continue;
    ASSERT_GE(*when, began + i * 200us);
    ++i;
  }
}

TEST_FOR_PROCS(ticker, needs_a_period) {
  EXPECT_THROW(weft::ticker(0ms), std::invalid_argument);
  EXPECT_THROW(weft::ticker(-1ms), std::invalid_argument);
  weft::ticker t(1h);
  EXPECT_THROW(t.reset(0ms), std::invalid_argument);
}

// B212, B205
TEST_FOR_PROCS(ticker, of_a_nanosecond_serves_ten_goroutines) {
  const weft::ticker t(1ns);
  weft::wait_group wg;
  for (int g = 0; g < 10; ++g)
    wg.go([&t] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(t.chan().recv().has_value());
    });
  wg.wait();
}

// B206
TEST_FOR_PROCS(ticker, a_hundred_that_were_stopped_stay_stopped) {
  std::vector<weft::ticker> all;
  for (int i = 0; i < 100; ++i) all.emplace_back(1ms);
  weft::sleep_for(3ms);
  for (auto& t : all) t.stop();
  weft::sleep_for(5ms);
  for (auto& t : all) EXPECT_EQ(t.chan().try_recv(), std::nullopt);
}

// --- functions ---

TEST_FOR_PROCS(after_func, calls_once_in_a_goroutine_of_its_own_and_never_early) {
  const auto began = weft::clock::now();
  const auto called = weft::make_chan<std::uint64_t>(2);
  const auto id = weft::this_goroutine::id();
  weft::after_func(2ms, [=] { called.send(weft::this_goroutine::id()); });  // the timer may go
  EXPECT_NE(called.recv(), id);
  EXPECT_GE(weft::clock::now() - began, 2ms);
  EXPECT_EQ(called.recv_for(3ms), std::nullopt);
}

TEST_FOR_PROCS(after_func, stop_prevents_the_call) {
  std::atomic<int> ncalls{0};
  weft::timer t = weft::after_func(1h, [&] { ++ncalls; });
  EXPECT_FALSE(t.chan()) << "it has none";
  EXPECT_TRUE(t.stop());
  EXPECT_FALSE(t.stop());
  EXPECT_FALSE(t.reset(0ms));
  EXPECT_TRUE(eventually([&] { return ncalls == 1; }));
  EXPECT_FALSE(t.stop()) << "called already";
}

// B195: it moves itself, and takes its time.
TEST_FOR_PROCS(after_func, can_arm_itself_again) {
  std::optional<weft::timer> t;
  std::atomic<int> ncalls{0};
  weft::event armed;
  weft::event done;
  t.emplace(weft::after_func(1ms, [&] {
    armed.wait();
    weft::sleep_for(200us);
    if (++ncalls == 10) {
      done.set();
    } else {
      t->reset(100us);
    }
  }));
  armed.set();
  done.wait();
  EXPECT_EQ(ncalls, 10);
}

TEST_FOR_PROCS(after_func, what_it_captured_is_destroyed_once) {
  const auto kept = std::make_shared<int>(1);
  {
    weft::timer never = weft::after_func(1h, [kept] {});
    EXPECT_EQ(kept.use_count(), 2);
    EXPECT_TRUE(never.stop());
    weft::timer moved = weft::after_func(1h, [kept] {});
    EXPECT_TRUE(moved.reset(2h));
    EXPECT_TRUE(moved.reset(0ms));
  }
  EXPECT_TRUE(eventually([&] { return kept.use_count() == 1; }));
  EXPECT_THROW(weft::after_func(1ms, std::function<void()>()), std::invalid_argument);
}

TEST_FOR_PROCS(after_func, ten_thousand_all_run) {
  std::atomic<int> ncalls{0};
  for (int i = 0; i < 10'000; ++i)
    weft::after_func(std::chrono::microseconds(i % 100), [&] { ++ncalls; });
  EXPECT_TRUE(eventually([&] { return ncalls == 10'000; }));
}

// Either it is stopped or it is called.
TEST_FOR_PROCS(after_func_race, stop_and_the_call_agree) {
  for (int i = 0; i < 300; ++i) {
    std::atomic<int> ncalls{0};
    weft::timer t = weft::after_func(std::chrono::microseconds(i % 50), [&] { ++ncalls; });
    if (i % 3 == 0) weft::sleep_for(std::chrono::microseconds(i % 40));
    const bool was_stopped = t.stop();
    if (was_stopped) {
      weft::yield();
      ASSERT_EQ(ncalls, 0) << "in round " << i;
    } else {
      ASSERT_TRUE(eventually([&] { return ncalls == 1; })) << "in round " << i;
    }
  }
}

TEST(timer_alone, a_function_that_was_not_called_is_forgotten_with_its_runtime) {
  std::optional<weft::timer> kept;
  std::atomic<int> ncalls{0};
  weft::run({.max_procs = 2}, [&] { kept.emplace(weft::after_func(20ms, [&] { ++ncalls; })); });
  weft::run({.max_procs = 2}, [&] {
    weft::sleep_for(40ms);
    EXPECT_EQ(ncalls, 0);
    kept->reset(1ms);
    EXPECT_TRUE(eventually([&] { return ncalls == 1; }));
  });
}

}  // namespace
