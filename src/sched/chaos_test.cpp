// chaos_test.cpp: each of the chaos switches is seen to do something, and to do nothing while it is off.
#include "sched/chaos.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include <weft/weft.hpp>

#include "base/rng.hpp"
#include "support/for_procs.hpp"

namespace weft::sched {
namespace {

using namespace std::chrono_literals;

// Never at random, and counts.
class last_first final : public strategy {
 public:
  explicit last_first(bool always_yields = false) : always_yields_(always_yields) {}
  bool yields(const G*) noexcept override {
    ++nedges;
    return always_yields_;
  }
  std::uint32_t choose(const rt::g_queue& runnable) noexcept override {
    ++nchoices;
    return static_cast<std::uint32_t>(runnable.size()) - 1;
  }
  int nedges = 0;
  int nchoices = 0;

 private:
  const bool always_yields_;
};

template <class F>
void run_planned(const chaos_plan& plan, unsigned nprocs, F body) {
  plan_chaos(&plan);
  test::run_on(nprocs, body);
}

// Ten goroutines on one P, each there before the first one runs; in which order they run.
std::vector<int> order_of_ten() {
  std::vector<int> order;
  weft::wait_group all;
  for (int i = 0; i < 10; ++i) all.go([&order, i] { order.push_back(i); });
  all.wait();
  return order;
}

TEST(chaos, the_row_of_numbers_is_that_of_the_seed) {
  run_planned({.seed = 77}, 1, [] {
    base::rng expected(77);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(draw(1000), expected.below(1000));
  });
}

TEST(chaos, the_strategy_says_who_runs_next) {
  last_first by;
  run_planned({.switches = kChaosOrder, .by = &by}, 1, [] {
    // The one that was started last stood at the front, and so comes first in the row whose end is chosen.
    EXPECT_EQ(order_of_ten(), (std::vector<int>{8, 7, 6, 5, 4, 3, 2, 1, 0, 9}));
  });
  EXPECT_GE(by.nchoices, 10);
  EXPECT_EQ(by.nedges, 0) << "nobody asked for yields";
}

TEST(chaos, a_plan_is_for_one_runtime) {
  last_first by;
  run_planned({.switches = kChaosOrder | kChaosYields, .by = &by}, 1, [] { order_of_ten(); });
  const int nchoices = by.nchoices;
  const int nedges = by.nedges;
  EXPECT_GT(nchoices, 0);
  EXPECT_GT(nedges, 0);
  test::run_on(1, [] { order_of_ten(); });
  EXPECT_EQ(by.nchoices, nchoices);
  EXPECT_EQ(by.nedges, nedges);
}

TEST(chaos, on_one_p_the_seed_fixes_the_order_and_another_one_makes_another) {
  const auto order_with = [](std::uint64_t seed) {
    std::vector<int> order;
    // Timeless: on a slow machine a slice may be over in the midst of it, which is a choice more.
    run_planned({.switches = kChaosOrder | kChaosYields, .seed = seed, .is_timeless = true}, 1,
                [&] {
                  for (int i = 0; i < 10; ++i) {
                    const std::vector<int> ten = order_of_ten();
                    order.insert(order.end(), ten.begin(), ten.end());
                  }
                });
    return order;
  };
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    EXPECT_EQ(order_with(seed), order_with(seed)) << seed;
    EXPECT_NE(order_with(seed), order_with(seed + 1)) << seed;
  }
}

// Each goes into the runtime and out of it a hundred times without ever making room for another. How often does it change whose turn it is?
int count_turns() {
  std::vector<int> turns;
  weft::wait_group all;
  for (int i = 0; i < 3; ++i) {
    all.go([&turns, i] {
      for (int j = 0; j < 100; ++j) {
        {
          const no_preempt guard;  // a slice may end in the middle of it
          if (turns.empty() || turns.back() != i) turns.push_back(i);
        }
        weft::stats();
      }
    });
  }
  all.wait();
  return static_cast<int>(turns.size());
}

TEST(chaos, with_yields_a_way_out_of_the_runtime_is_a_turn) {
  run_planned({.switches = kChaosYields, .seed = 5}, 1, [] { EXPECT_GT(count_turns(), 20); });
  last_first always(true);
  run_planned({.switches = kChaosYields, .by = &always}, 1, [] { EXPECT_GT(count_turns(), 250); });
  last_first never(false);
  run_planned({.switches = kChaosYields, .by = &never}, 1, [] { EXPECT_LT(count_turns(), 10); });
  EXPECT_GT(never.nedges, 300);
}

TEST(chaos, nobody_is_asked_while_it_is_off) {
  last_first by(true);
  run_planned({.by = &by}, 1, [] {
    order_of_ten();
    count_turns();
  });
  EXPECT_EQ(by.nchoices, 0);
  EXPECT_EQ(by.nedges, 0);
}

// Something of everything.
void do_all_sorts() {
  weft::wait_group all;
  auto c = weft::make_chan<int>();
  for (int i = 0; i < 20; ++i) {
    all.go([c, i] { c.send(i); });
    all.go([c] { c.recv(); });
    all.go([] { weft::make_chan<int>().recv_for(100us); });
    all.go([i] { weft::sleep_for(std::chrono::microseconds(100 * i)); });
  }
  all.go([] { weft::blocking([] { std::this_thread::sleep_for(30ms); }); });
  all.wait();
  weft::max_procs(3);
  weft::max_procs(2);
}

TEST(chaos, with_delays_a_thread_dawdles_in_the_windows_and_without_it_does_not) {
  const auto count = [] {
    std::vector<std::uint64_t> n;
    for (unsigned i = 0; i < static_cast<unsigned>(window::kCount); ++i)
      n.push_back(visits(static_cast<window>(i)));
    return n;
  };
  const auto before = count();
  run_planned({}, 2, do_all_sorts);
  EXPECT_EQ(count(), before);
  run_planned({.switches = kChaosDelays}, 2, do_all_sorts);
  const auto after = count();
  for (const window each :
       {window::queued, window::chosen, window::p_dropped, window::spun, window::asleep_soon,
        window::arming, window::armed, window::off_stack, window::parted, window::stopping,
        window::starting, window::thread_made, window::thread_begins}) {
    const auto i = static_cast<std::size_t>(each);
    EXPECT_GT(after[i], before[i]) << "window " << i;
  }
}

TEST(chaos, everything_at_once_on_every_number_of_processors) {
  const std::uint64_t seed = test::seed();
  for (unsigned nprocs = 1; nprocs <= 4; ++nprocs) {
    run_planned({.switches = kChaosYields | kChaosOrder | kChaosDelays, .seed = seed}, nprocs, [] {
      EXPECT_TRUE(is_chaos(kChaosOrder));
      do_all_sorts();
      EXPECT_TRUE(test::eventually([] { return weft::num_goroutines() == 1; }));
    });
  }
}

}  // namespace
}  // namespace weft::sched
