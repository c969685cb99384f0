// testing_bubble.cpp: testing::bubble() and testing::wait(): time that jumps (B218 to B221).
#include <signal.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

#include <weft/testing/bubble.hpp>
#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::testing::bubble;

namespace {

auto since(weft::time_point began) { return weft::clock::now() - began; }

// --- the clock (B218, B219) ---

TEST_FOR_PROCS(bubble, sleeping_takes_no_time_and_exactly_as_long_as_asked_for) {
  const auto began = std::chrono::steady_clock::now();
  bubble([] {
    const auto start = weft::clock::now();
    weft::sleep_for(24h);
    EXPECT_EQ(since(start), 24h);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1h);
}

TEST_FOR_PROCS(bubble, each_begins_at_the_same_time) {
  std::vector<weft::time_point> begins;
  for (int i = 0; i < 2; ++i) {
    bubble([&] {
      begins.push_back(weft::clock::now());
      weft::sleep_for(1s);
    });
  }
  EXPECT_EQ(begins[0], begins[1]);
  EXPECT_EQ(begins[0].time_since_epoch(), 946'684'800s);
}

TEST_FOR_PROCS(bubble, the_time_stands_still_while_somebody_computes) {
  bubble([] {
    const auto start = weft::clock::now();
    weft::go([] { weft::sleep_for(1ns); });
    const auto real = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - real < 5ms) weft::yield();
    EXPECT_EQ(since(start), 0ns);
    weft::sleep_for(1ns);
  });
}

TEST_FOR_PROCS(bubble, outside_the_clock_is_the_machines) {
  const auto before = weft::clock::now();
  bubble([&] { EXPECT_GT(weft::clock::now() - before, 1h); });
  EXPECT_LT(since(before), 1h);
  EXPECT_FALSE(weft::testing::in_bubble());
}

TEST_FOR_PROCS(bubble, those_who_sleep_wake_in_the_order_of_their_times) {
  bubble([] {
    const auto start = weft::clock::now();
    std::vector<int> woken;
    weft::mutex m;
    weft::wait_group all;
    for (int i : {3, 1, 2, 5, 4}) {
      all.go([&, i] {
        weft::sleep_for(i * 1s);
        EXPECT_EQ(since(start), i * 1s);
        const std::lock_guard hold(m);
        woken.push_back(i);
      });
    }
    all.wait();
    EXPECT_EQ(woken, (std::vector{1, 2, 3, 4, 5}));
  });
}

TEST_FOR_PROCS(bubble, many_sleepers_and_each_wakes_at_its_time) {
  bubble([] {
    const auto start = weft::clock::now();
    weft::wait_group all;
    std::atomic<int> nwoken{0};
    for (int i = 0; i < 500; ++i) {
      all.go([&, i] {
        for (int k = 1; k <= 4; ++k) {
          weft::sleep_for((i % 37 + 1) * 1ms);
          EXPECT_EQ(since(start), k * (i % 37 + 1) * 1ms);
        }
        ++nwoken;
      });
    }
    all.wait();
    EXPECT_EQ(nwoken, 500);
    EXPECT_EQ(since(start), 4 * 37ms);
  });
}

TEST_FOR_PROCS(bubble, timers_and_tickers_go_by_its_clock) {
  bubble([] {
    const auto start = weft::clock::now();
    weft::timer once(10s);
    EXPECT_EQ(*once.chan().recv() - start, 10s);
    weft::ticker every(1min);
    for (int i = 1; i <= 5; ++i) EXPECT_EQ(*every.chan().recv() - start, 10s + i * 1min);
    EXPECT_FALSE(once.reset(1h));
    EXPECT_TRUE(once.stop());
    every.stop();
    EXPECT_EQ(since(start), 10s + 5min);
  });
}

TEST_FOR_PROCS(bubble, after_func_runs_in_it_and_at_its_time) {
  bubble([] {
    const auto start = weft::clock::now();
    weft::event called;
    const weft::timer t = weft::after_func(3s, [&] {
      EXPECT_TRUE(weft::testing::in_bubble());
      EXPECT_EQ(since(start), 3s);
      called.set();
    });
    weft::sleep_for(3s - 1ns);
    weft::testing::wait();
    EXPECT_FALSE(called.is_set());
    weft::sleep_for(1ns);
    weft::testing::wait();
    EXPECT_TRUE(called.is_set());
  });
}

TEST_FOR_PROCS(bubble, every_wait_with_a_limit_ends_at_its_time) {
  bubble([] {
    auto start = weft::clock::now();
    const auto took = [&] { return weft::clock::now() - std::exchange(start, weft::clock::now()); };
    auto c = weft::make_chan<int>();
    EXPECT_FALSE(c.recv_for(1s));
    EXPECT_EQ(took(), 1s);
    EXPECT_FALSE(c.send_for(1, 2s));
    EXPECT_EQ(took(), 2s);
    weft::select(weft::on_recv(c, [](auto) { ADD_FAILURE(); }), weft::on_timeout(3s, [] {}));
    EXPECT_EQ(took(), 3s);
    weft::mutex m;
    weft::condition_variable cv;
    std::unique_lock hold(m);
    EXPECT_EQ(cv.wait_for(hold, 4s), std::cv_status::timeout);
    EXPECT_EQ(took(), 4s);
    weft::semaphore one(1);
    one.acquire(1);
    EXPECT_FALSE(one.try_acquire_for(5s));
    EXPECT_EQ(took(), 5s);
    weft::timed_mutex locked;
    locked.lock();
    EXPECT_FALSE(locked.try_lock_for(6s));
    EXPECT_EQ(took(), 6s);
    auto sleeper = weft::spawn([] { weft::sleep_for(1h); });
    EXPECT_FALSE(sleeper.wait_for(7s));
    EXPECT_EQ(took(), 7s);
    sleeper.join();
  });
}

TEST_FOR_PROCS(bubble, contexts_end_by_its_clock) {
  bubble([] {
    const auto start = weft::clock::now();
    auto [ctx, cancel] = weft::with_timeout(weft::background(), 5s);
    weft::sleep_for(5s - 1ns);
    weft::testing::wait();
    EXPECT_FALSE(ctx.err());
    weft::sleep_for(1ns);
    weft::testing::wait();
    EXPECT_EQ(ctx.err(), weft::context_errc::deadline_exceeded);
    EXPECT_EQ(since(start), 5s);
  });
}

// --- wait() ---

TEST_FOR_PROCS(bubble_wait, returns_when_all_others_have_done_what_they_can) {
  bubble([] {
    const auto start = weft::clock::now();
    std::atomic<int> done{0};
    auto c = weft::make_chan<int>();
    for (int i = 0; i < 20; ++i) {
      weft::go([&] {
        for (int k = 0; k < 10; ++k) weft::yield();
        ++done;
        c.recv();
        ++done;
      });
    }
    weft::testing::wait();
    EXPECT_EQ(done, 20);
    for (int i = 0; i < 20; ++i) c.send(i);
    weft::testing::wait();
    EXPECT_EQ(done, 40);
    EXPECT_EQ(since(start), 0ns) << "it takes no time";
  });
}

TEST_FOR_PROCS(bubble_wait, needs_a_bubble_and_nobody_else_in_it) {
  EXPECT_THROW(weft::testing::wait(), std::logic_error);
  bubble([] {
    weft::test::comer other;
    weft::go([&] {
      other.comes();
      weft::testing::wait();
    });
    ASSERT_TRUE(other.waits());
    EXPECT_THROW(weft::testing::wait(), std::logic_error);
  });
}

TEST_FOR_PROCS(bubble_wait, waits_for_one_in_blocking_and_one_at_a_mutex) {
  bubble([] {
    weft::mutex m;
    std::atomic<bool> was_blocking{false};
    std::atomic<bool> had_mutex{false};
    weft::event entered;
    weft::go([&] {
      const std::lock_guard hold(m);
      entered.set();
      weft::blocking([] { std::this_thread::sleep_for(5ms); });
      was_blocking = true;
    });
    entered.wait();
    weft::go([&] {
      const std::lock_guard hold(m);
      had_mutex = true;
    });
    weft::testing::wait();
    EXPECT_TRUE(was_blocking);
    EXPECT_TRUE(had_mutex);
  });
}

// --- who is in it ---

TEST_FOR_PROCS(bubble, returns_when_all_its_goroutines_have_ended) {
  std::atomic<int> nended{0};
  bubble([&] {
    for (int i = 0; i < 10; ++i) {
      weft::go([&] {
        weft::go([&] {
          for (int k = 0; k < 100; ++k) weft::yield();
          ++nended;
        });
      });
    }
  });
  EXPECT_EQ(nended, 10);
}

TEST_FOR_PROCS(bubble, whoever_is_started_in_it_is_in_it_however) {
  bubble([] {
    std::atomic<int> nin{0};
    const auto look = [&] { nin += weft::testing::in_bubble(); };
    weft::spawn(look).join();
    weft::wait_group wg;
    wg.go(look);
    wg.wait();
    weft::group g;
    g.go(look);
    g.wait();
    weft::go({.name = "named", .stack_size = 1 << 16}, look);
    auto [ctx, cancel] = weft::with_cancel(weft::background());
    auto stop = weft::after_func(ctx, look);
    cancel();
    weft::testing::wait();
    EXPECT_EQ(nin, 5);
  });
}

TEST_FOR_PROCS(bubble, an_exception_of_the_function_leaves_it) {
  std::atomic<bool> has_ended{false};
  EXPECT_THROW(bubble([&] {
                 weft::go([&] {
                   for (int i = 0; i < 100; ++i) weft::yield();
                   has_ended = true;
                 });
                 throw std::invalid_argument("no good");
               }),
               std::invalid_argument);
  EXPECT_TRUE(has_ended);
}

TEST_FOR_PROCS(bubble, its_function_and_others_may_end_by_exit_goroutine) {
  bool was_destroyed = false;
  bubble([&] {
    weft::go([] { weft::exit_goroutine(); });
    struct witness {
      bool& was;
      ~witness() { was = true; }
    } w{was_destroyed};
    weft::sleep_for(1s);
    weft::exit_goroutine();
  });
  EXPECT_TRUE(was_destroyed);
}

TEST_FOR_PROCS(bubble, nested_ones_are_refused) {
  bubble([] { EXPECT_THROW(bubble([] {}), std::logic_error); });
}

TEST_FOR_PROCS(bubble, several_at_once_have_a_clock_each) {
  weft::wait_group all;
  for (int i = 1; i <= 8; ++i) {
    all.go([i] {
      bubble([i] {
        const auto start = weft::clock::now();
        weft::wait_group inner;
        for (int k = 0; k < 5; ++k) {
          inner.go([&, i] {
            for (int n = 0; n < 20; ++n) weft::sleep_for(i * 1s);
          });
        }
        inner.wait();
        EXPECT_EQ(since(start), 20 * i * 1s);
      });
    });
  }
  all.wait();
}

TEST_FOR_PROCS(bubble, a_number_is_used_again) {
  for (int i = 0; i < 300; ++i) bubble([] { weft::sleep_for(1s); });
}

TEST(bubble, works_without_a_runtime_and_beside_one) {
  bubble([] { weft::sleep_for(1h); });
  EXPECT_THROW(bubble([] { throw std::invalid_argument("no good"); }), std::invalid_argument);
  EXPECT_THROW(bubble([] { weft::event().wait(); }), weft::testing::deadlock);
  weft::runtime r({.max_procs = 2});
  bubble([] { weft::sleep_for(1h); });
  EXPECT_THROW(bubble([] { throw std::invalid_argument("no good"); }), std::invalid_argument);
}

// --- the same time (B221) ---

TEST_FOR_PROCS(bubble, those_of_the_same_time_come_in_any_order) {
  const auto orders = [](auto start) {
    std::set<std::vector<int>> seen;
    for (int round = 0; round < 200 && seen.size() < 2; ++round) {
      bubble([&] {
        std::vector<int> order;
        weft::mutex m;
        for (int i = 0; i < 4; ++i) {
          start([&, i] {
            const std::lock_guard hold(m);
            order.push_back(i);
          });
          weft::testing::wait();
        }
        weft::sleep_for(1s);
        weft::testing::wait();
        seen.insert(order);
      });
    }
    return seen.size();
  };
  EXPECT_GT(orders([](auto f) {
              weft::go([f] {
                weft::sleep_until(weft::time_point(946'684'800s + 1s));
                f();
              });
            }),
            1u);
  EXPECT_GT(orders([](auto f) {
              weft::after_func(weft::time_point(946'684'800s + 1s) - weft::clock::now(), f);
            }),
            1u);
}

// --- deadlock (B220) ---

template <class F>
weft::testing::deadlock caught(F f) {
  try {
    bubble(f);
  } catch (const weft::testing::deadlock& d) {
    return d;
  }
  ADD_FAILURE() << "no deadlock";
  return {"", {}};
}

TEST_FOR_PROCS(bubble_deadlock, of_the_function_names_it) {
  const auto d = caught([] {
    weft::this_goroutine::set_name("stuck");
    weft::make_chan<int>().recv();
  });
  ASSERT_EQ(d.goroutines().size(), 1u);
  EXPECT_EQ(d.goroutines()[0].name, "stuck");
  EXPECT_EQ(d.goroutines()[0].state, "chan receive");
  EXPECT_NE(d.goroutines()[0].waits_on, nullptr);
  EXPECT_NE(d.goroutines()[0].origin.find("made at "), std::string::npos);
  EXPECT_NE(std::string(d.what()).find("\"stuck\" [chan receive]"), std::string::npos) << d.what();
}

TEST_FOR_PROCS(bubble_deadlock, of_others_when_the_function_has_returned) {
  const auto d = caught([] {
    weft::go({.name = "left"}, [] { weft::chan<int>().send(1); });
    weft::go({.name = "sleeps"}, [] { weft::sleep_for(1s); });
  });
  std::multiset<std::string> states;
  for (const auto& g : d.goroutines()) states.insert(g.name + ' ' + g.state);
  EXPECT_EQ(states, (std::multiset<std::string>{"left chan send (nil chan)", "sleeps sleep"}))
      << "from then on the time stands still";
}

TEST_FOR_PROCS(bubble_deadlock, a_ticker_nobody_receives_from_is_no_progress) {
  const auto d = caught([] {
    const weft::ticker often(1s);
    const weft::ticker seldom(1min);
    const weft::timer once(1h);
    weft::event().wait();
  });
  EXPECT_EQ(d.goroutines().size(), 1u);
}

TEST_FOR_PROCS(bubble_deadlock, whoever_receives_from_a_ticker_is_left_when_the_function_returns) {
  std::atomic<int> nticks{0};
  const auto d = caught([&] {
    weft::go([&] {
      const weft::ticker every(1s);
      for ([[maybe_unused]] auto t : every.chan()) ++nticks;
    });
    weft::sleep_for(3500ms);
    weft::testing::wait();
  });
  EXPECT_EQ(d.goroutines().size(), 1u);
  EXPECT_EQ(nticks, 3);
}

TEST_FOR_PROCS(bubble_deadlock, the_failure_of_the_function_comes_first) {
  EXPECT_THROW(bubble([] {
                 weft::go([] { weft::event().wait(); });
                 throw std::invalid_argument("no good");
               }),
               std::invalid_argument);
}

TEST_FOR_PROCS(bubble_deadlock, is_none_while_somebody_outside_may_send) {
  auto c = weft::make_chan<int>();
  auto also = weft::make_chan<int>();
  weft::event is_inside;
  weft::go([&] {
    is_inside.wait();
    for (int i = 0; i < 50; ++i) weft::yield();
    c.send(1);
    for (int i = 0; i < 50; ++i) weft::yield();
    also.send(2);
  });
  bubble([&] {
    const auto start = weft::clock::now();
    weft::go([] { weft::sleep_for(1s); });
    is_inside.set();
    EXPECT_EQ(c.recv(), 1);
    weft::select(weft::on_recv(also, [](auto) {}), weft::on_timeout(2s, [] { ADD_FAILURE(); }));
    EXPECT_EQ(since(start), 0ns) << "who waits outside is not durably blocked";
    weft::sleep_for(1s);
  });
}

// --- several processors, and those outside ---

TEST_FOR_PROCS(bubble_race, goroutines_that_wake_one_another_leave_no_gap) {
  for (int round = 0; round < weft::test::scaled(100); ++round) {
    bubble([] {
      const auto start = weft::clock::now();
      auto ping = weft::make_chan<int>();
      auto pong = weft::make_chan<int>();
      weft::wait_group players;
      for (int i = 0; i < 4; ++i) {
        players.go([&] {
          for (int k = 0; k < 50; ++k) {
            ping.send(k);
            pong.recv();
          }
        });
        players.go([&] {
          for (int k = 0; k < 50; ++k) {
            ping.recv();
            pong.send(k);
          }
        });
      }
      players.wait();
      EXPECT_EQ(since(start), 0ns) << "nobody slept, so the time never moved";
    });
  }
}

TEST_FOR_PROCS(bubble_race, every_kind_of_wait_at_once) {
  for (int round = 0; round < weft::test::scaled(30); ++round) {
    bubble([] {
      weft::mutex m;
      weft::condition_variable cv;
      weft::semaphore sem(2);
      weft::barrier all(8);
      auto c = weft::make_chan<int>(1);
      int nready = 0;
      weft::wait_group wg;
      for (int i = 0; i < 8; ++i) {
        wg.go([&, i] {
          for (int k = 0; k < 10; ++k) {
            sem.acquire(1);
            if (i % 2 == 0) weft::sleep_for((i + 1) * 1us);
            sem.release(1);
            {
              std::unique_lock hold(m);
              if (++nready % 8 == 0) {
                cv.notify_all();
              } else {
                const int mine = nready / 8;
                cv.wait(hold, [&] { return nready / 8 > mine; });
              }
            }
            weft::select(weft::on_send(c, k, [] {}), weft::on_recv(c, [](auto) {}),
                         weft::on_timeout(1ms, [] {}));
            all.arrive_and_wait();
          }
        });
      }
      wg.wait();
    });
  }
}

TEST_FOR_PROCS(bubble_race, whoever_is_woken_from_outside_goes_on) {
  for (int round = 0; round < weft::test::scaled(50); ++round) {
    weft::event outside[4];
    std::atomic<bool> is_over{false};
    std::thread plain([&] {
      for (auto& each : outside) each.set();
    });
    weft::go([&] {
      for (auto& each : outside) each.set();
      is_over = true;
    });
    bubble([&] {
      weft::wait_group wg;
      for (auto& each : outside) {
        wg.go([&] {
          // It counts as durably blocked at an event, so somebody must keep the bubble from ending in a deadlock meanwhile.
          each.wait();
          weft::sleep_for(1s);
        });
      }
      weft::blocking([&] { plain.join(); });
      wg.wait();
    });
    while (!is_over) weft::yield();
  }
}

// What was armed in a bubble is over with it, and can be armed again elsewhere.
TEST_FOR_PROCS(bubble, a_timer_may_outlive_it) {
  std::optional<weft::ticker> every;
  std::optional<weft::timer> once;
  bubble([&] {
    every.emplace(1s);
    once.emplace(1h);
    every->chan().recv();
  });
  once->reset(1ns);
  EXPECT_TRUE(once->chan().recv());
  EXPECT_FALSE(once->stop());
  every->stop();
  every.reset();
  bubble([&] {
    const auto start = weft::clock::now();
    once->reset(3s);
    EXPECT_EQ(*once->chan().recv() - start, 3s);
    once->reset(3s);
  });
  once.reset();
}

TEST_FOR_PROCS(bubble, the_network_goes_by_the_machines_clock) {
  bubble([] {
    const auto start = weft::clock::now();
    auto [reads, writes] = weft::io::pipe();
    reads.set_read_deadline(weft::clock::now() + 5ms);
    char byte;
    std::error_code ec;
    reads.read_some(weft::io::mutable_buffer(&byte, 1), ec);
    EXPECT_EQ(ec, weft::io::errc::deadline_exceeded);
    EXPECT_EQ(since(start), 0ns);
  });
}

// Who forwards signals serves the whole program: it is not in the bubble in which it was first needed.
TEST_FOR_PROCS(bubble, whoever_waits_for_a_signal_is_not_durably_blocked) {
  bubble([] {
    const auto start = weft::clock::now();
    auto signals = weft::io::signal_chan({SIGUSR1});
    weft::go([] { weft::sleep_for(1s); });
    weft::go([] {
      weft::blocking([] { std::this_thread::sleep_for(2ms); });
      ::raise(SIGUSR1);
    });
    EXPECT_EQ(signals.recv(), SIGUSR1);
    EXPECT_EQ(since(start), 0ns);
    weft::io::stop_signals(signals);
    weft::sleep_for(1s);
  });
}

TEST(bubble, abandoned_with_its_runtime) {
  for (int round = 0; round < 20; ++round) {
    weft::run([] {
      weft::go([] { bubble([] { weft::blocking([] { std::this_thread::sleep_for(1ms); }); }); });
      weft::go([] {
        bubble([] {
          weft::mutex m;
          m.lock();
          m.lock();
        });
      });
      for (int i = 0; i < 10; ++i) weft::yield();
    });
  }
  bubble([] { weft::sleep_for(1s); });
}

}  // namespace
