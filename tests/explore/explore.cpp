// explore.cpp: testing::explore(): many schedules, each of which can be had again. Compiled with WEFT_EXPLORE_LOCKS.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/for_procs.hpp"

#include <weft/testing/explore.hpp>
#include <weft/testing/gtest.hpp>
#include <weft/weft.hpp>

#if !defined(WEFT_EXPLORE_LOCKS)
#error "compile with WEFT_EXPLORE_LOCKS"
#endif

using namespace std::chrono_literals;
using weft::testing::explore;
using weft::testing::explore_failure;
using weft::testing::explore_options;
using weft::testing::strategy;

namespace {

// Where none is to fail. Each is a runtime of its own, which takes long under a sanitizer.
constexpr std::uint64_t kMany = weft::test::scaled(500);
constexpr strategy kBoth[] = {strategy::random, strategy::pct};

class with_seed {
 public:
  explicit with_seed(const char* value) { ::setenv("WEFT_SEED", value, 1); }
  ~with_seed() { ::unsetenv("WEFT_SEED"); }
};

// What a run did, in the order in which it did it. On one processor there is no need for a lock.
using trace = std::vector<int>;

// A bit of everything.
trace everything(std::uint64_t seed, strategy how) {
  trace seen;
  explore({.seeds = 1, .first_seed = seed, .how = how}, [&] {
    auto c = weft::make_chan<int>(2);
    auto quit = weft::make_chan<void>();
    weft::mutex m;
    weft::semaphore two(2);
    weft::wait_group all;
    for (int i = 0; i < 4; ++i) {
      all.go([&, i] {
        for (int k = 0; k < 5; ++k) {
          two.acquire(1);
          seen.push_back(100 * i + k);
          c.send(100 * i + k);
          two.release(1);
          const std::lock_guard hold(m);
          seen.push_back(1000 + i);
        }
      });
      all.go([&, i] {
        for (bool goes_on = true; goes_on;) {
          weft::select(weft::on_recv(c, [&](auto v) { seen.push_back(2000 + *v); }),
                       weft::on_recv(quit, [&](bool) { goes_on = false; }),
                       weft::on_timeout((i + 1) * 1ms, [&] { seen.push_back(3000 + i); }));
        }
      });
    }
    weft::after_func(10ms, [&] { seen.push_back(4000); });
    weft::sleep_for(20ms);
    quit.close();
    all.wait();
    seen.push_back(static_cast<int>((weft::clock::now().time_since_epoch() - 946'684'800s) / 1us));
  });
  return seen;
}

TEST(explore, the_same_seed_gives_the_same_run_and_others_give_others) {
  for (const strategy how : kBoth) {
    std::set<trace> all;
    const int nseeds = weft::test::scaled(40);
    for (int seed = 1; seed <= nseeds; ++seed) {
      const trace once = everything(seed, how);
      ASSERT_GT(once.size(), 60u);
      ASSERT_EQ(everything(seed, how), once) << "seed " << seed;
      all.insert(once);
    }
    EXPECT_GT(all.size(), nseeds * 3u / 4) << "hardly two alike";
  }
}

// Whoever computes for longer than a slice is not stopped: that would depend on the machine.
TEST(explore, the_machines_clock_has_no_part_in_it) {
  const auto run = [](std::uint64_t seed, std::chrono::milliseconds busy) {
    trace seen;
    explore({.seeds = 1, .first_seed = seed}, [&] {
      weft::wait_group all;
      for (int i = 0; i < 3; ++i) {
        all.go([&, i] {
          for (int k = 0; k < 3; ++k) {
            seen.push_back(i);
            const auto began = std::chrono::steady_clock::now();
            while (std::chrono::steady_clock::now() - began < busy) {
            }
            weft::yield();
          }
        });
      }
      all.wait();
    });
    return seen;
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed) EXPECT_EQ(run(seed, 25ms), run(seed, 0ms));
}

TEST(explore, comes_to_every_order_of_a_few_steps) {
  for (const strategy how : kBoth) {
    std::set<std::string> orders;
    explore({.seeds = 150, .how = how}, [&] {
      std::string order;
      weft::wait_group both;
      for (const char who : {'a', 'b'}) {
        both.go([&order, who] {
          order += who;
          weft::yield();
          order += who;
        });
      }
      both.wait();
      orders.insert(order);
    });
    // Two of the six need more changes than pct makes, and it rarely makes them so soon.
    if (how == strategy::pct) {
      EXPECT_GE(orders.size(), 3u);
    } else {
      EXPECT_EQ(orders, (std::set<std::string>{"aabb", "abab", "abba", "baab", "baba", "bbaa"}));
    }
  }
}

// --- what it finds ---

template <class F>
std::uint64_t seed_that_fails(const explore_options& options, F f) {
  try {
    explore(options, f);
  } catch (const explore_failure& e) {
    return e.seed();
  }
  return 0;
}

void lose_an_update() {
  int balance = 0;
  weft::wait_group both;
  for (int i = 0; i < 2; ++i) {
    both.go([&] {
      const int before = balance;
      weft::yield();
      balance = before + 1;
    });
  }
  both.wait();
  if (balance != 2) throw std::runtime_error("an update was lost");
}

void lose_none() {
  int balance = 0;
  weft::mutex m;
  weft::wait_group both;
  for (int i = 0; i < 2; ++i) {
    both.go([&] {
      const std::lock_guard hold(m);
      const int before = balance;
      weft::yield();
      balance = before + 1;
    });
  }
  both.wait();
  if (balance != 2) throw std::runtime_error("an update was lost");
}

TEST(explore, finds_a_lost_update_and_none_where_there_is_none) {
  for (const strategy how : kBoth) {
    testing::internal::CaptureStderr();
    const std::uint64_t seed = seed_that_fails({.how = how}, lose_an_update);
    const std::string line = testing::internal::GetCapturedStderr();
    ASSERT_NE(seed, 0u);
    const std::string number = std::to_string(seed);
    EXPECT_EQ(line, "weft::testing::explore: seed " + number +
                        " failed: an update was lost; replay with WEFT_SEED=" + number + "\n");
    EXPECT_EQ(seed_that_fails({.seeds = kMany, .how = how}, lose_none), 0u);
  }
}

TEST(explore, weft_seed_replays_one) {
  const std::uint64_t seed = seed_that_fails({}, lose_an_update);
  ASSERT_NE(seed, 0u);
  int ncalls = 0;
  const auto counted = [&] {
    ++ncalls;
    lose_an_update();
  };
  {
    const with_seed only(std::to_string(seed).c_str());
    EXPECT_EQ(seed_that_fails({.seeds = 50, .first_seed = seed + 1}, counted), seed);
    EXPECT_EQ(ncalls, 1);
  }
  testing::internal::CaptureStderr();
  const with_seed rubbish("seventeen");
  EXPECT_EQ(seed_that_fails({.seeds = 3}, lose_none), 0u);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft: WEFT_SEED is not a number, and is ignored\n");
}

TEST(explore, finds_locks_taken_in_two_orders) {
  for (const strategy how : kBoth) {
    try {
      explore({.how = how}, [] {
        weft::mutex a;
        weft::mutex b;
        weft::wait_group both;
        both.go([&] {
          const std::lock_guard first(a);
          const std::lock_guard second(b);
        });
        both.go([&] {
          const std::lock_guard first(b);
          const std::lock_guard second(a);
        });
        both.wait();
      });
      ADD_FAILURE() << "not found";
    } catch (const explore_failure& e) {
      std::multiset<std::string> states;
      try {
        e.rethrow_nested();
      } catch (const weft::testing::deadlock& d) {
        for (const auto& g : d.goroutines()) states.insert(g.state);
      }
      EXPECT_EQ(states, (std::multiset<std::string>{"sync.Mutex.Lock", "sync.Mutex.Lock",
                                                    "wait_group wait"}));
    }
  }
}

TEST(explore, finds_a_notify_that_comes_before_the_wait) {
  const auto program = [](bool is_right) {
    return [is_right] {
      weft::mutex m;
      weft::condition_variable cv;
      bool is_set = false;
      weft::go([&] {
        const std::lock_guard hold(m);
        is_set = true;
        cv.notify_one();
      });
      std::unique_lock hold(m);
      if (is_right) {
        cv.wait(hold, [&] { return is_set; });
      } else {
        cv.wait(hold);
      }
      hold.unlock();
      weft::testing::wait();
    };
  };
  EXPECT_NE(seed_that_fails({}, program(false)), 0u);
  EXPECT_EQ(seed_that_fails({.seeds = kMany}, program(true)), 0u);
}

// Two events at the same time may come in any order.
TEST(explore, finds_what_depends_on_the_order_of_timers) {
  std::set<int> seen;
  explore({.seeds = 60}, [&] {
    auto c = weft::make_chan<int>();
    weft::go([c] {
      weft::sleep_for(1s);
      c.try_send(1);
    });
    seen.insert(c.recv_for(1s).has_value());
  });
  EXPECT_EQ(seen, (std::set<int>{0, 1}));
}

TEST(explore, pct_finds_what_needs_several_changes_in_particular_places) {
  const auto program = [] {
    int state = 0;
    weft::group g;
    g.go([&] {
      for (int i = 0; i < 20; ++i) weft::yield();
      if (state == 0) {
        state = 1;
        weft::yield();
        if (state == 2) throw std::runtime_error("found");
        state = 0;
      }
    });
    g.go([&] {
      for (int i = 0; i < 20; ++i) weft::yield();
      if (state == 1) state = 2;
    });
    g.wait();
  };
  EXPECT_NE(seed_that_fails({.seeds = 3000, .how = strategy::pct}, program), 0u);
}

// One that waits by yielding would otherwise run for ever, being the first.
TEST(explore, pct_lets_others_go_on_beside_one_that_spins) {
  explore({.seeds = 50, .how = strategy::pct}, [] {
    bool is_set = false;
    weft::go([&] {
      weft::yield();
      is_set = true;
    });
    while (!is_set) weft::yield();
  });
}

// --- how it is used ---

TEST(explore, runs_as_often_as_asked_for_with_one_processor_and_a_bubble) {
  int n = 0;
  explore({.seeds = 7}, [&] {
    ++n;
    EXPECT_EQ(weft::max_procs(), 1u);
    EXPECT_TRUE(weft::testing::in_bubble());
    weft::sleep_for(24h);
  });
  EXPECT_EQ(n, 7);
}

TEST(explore, a_predicate_may_say_that_a_run_failed) {
  int n = 0;
  const explore_options options{.has_failed = [&] { return n == 5; }};
  EXPECT_EQ(seed_that_fails(options, [&] { ++n; }), 5u);
  EXPECT_FALSE(weft::testing::has_test_failed());
}

TEST(explore, an_exception_of_any_kind_is_a_failure) {
  EXPECT_EQ(seed_that_fails({}, [] { throw 42; }), 1u);
}

TEST(explore, needs_a_runtime_of_its_own) {
  weft::test::run_on(1, [] { EXPECT_THROW(explore([] {}), std::logic_error); });
  explore({.seeds = 1}, [] { EXPECT_THROW(explore([] {}), std::logic_error); });
}

}  // namespace
