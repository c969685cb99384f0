// scheduling.cpp: everyone gets to run: yielding, parallelism, stealing, fairness.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "rt/run_queue.hpp"
#include "support/for_procs.hpp"
#include "support/pressure.hpp"

namespace {

// B016
TEST_FOR_PROCS(yield, a_goroutine_that_only_yields_lets_others_make_progress) {
  std::atomic<bool> stop{false};
  weft::event ended;
  weft::go([&] {
    while (!stop) weft::yield();
    ended.set();
  });
  for (int i = 0; i < 100; ++i) weft::spawn([] { weft::yield(); }).join();
  stop = true;
  ended.wait();
}

// B017
TEST_FOR_PROCS(yield, a_locked_goroutine_that_only_yields_lets_others_make_progress) {
  std::atomic<bool> stop{false};
  weft::event ended;
  weft::go([&] {
    weft::lock_os_thread();
    while (!stop) weft::yield();
    weft::unlock_os_thread();
    ended.set();
  });
  for (int i = 0; i < 100; ++i) weft::spawn([] { weft::yield(); }).join();
  stop = true;
  ended.wait();
}

// Three goroutines that yield ten times each: who ran, in order.
std::vector<int> turns_of_three() {
  std::vector<int> order;
  weft::wait_group wg;
  for (int i = 0; i < 3; ++i) {
    wg.go([&order, i] {
      for (int n = 0; n < 10; ++n) {
        order.push_back(i);
        weft::yield();
      }
    });
  }
  wg.wait();
  return order;
}

// A goroutine whose slice is over goes to the end of the queue once more, and a machine may be too busy for thirty turns in one slice.
// So those that took longer say nothing, and there must be one that did not.
TEST(yield, goroutines_on_one_p_take_turns) {
  if (weft::test::is_migrating()) GTEST_SKIP();
  weft::test::run_on(1, [] {
    constexpr auto kSlice = std::chrono::milliseconds(10);
    for (int attempt = 0; attempt < 1000; ++attempt) {
      weft::spawn([] {}).join();  // a new slice
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<int> order = turns_of_three();
      ASSERT_EQ(order.size(), 30u);
      if (std::chrono::steady_clock::now() - begin >= kSlice) continue;
      for (std::size_t i = 0; i + 3 <= order.size(); i += 3) {
        const std::set<int> round(order.begin() + static_cast<std::ptrdiff_t>(i),
                                  order.begin() + static_cast<std::ptrdiff_t>(i) + 3);
        EXPECT_EQ(round.size(), 3u) << "round " << i / 3;
      }
      return;
    }
    FAIL() << "thirty turns never fitted into one slice";
  });
}

TEST_FOR_PROCS(yield, alone_returns) {
  for (int i = 0; i < 1000; ++i) weft::yield();
}

TEST(yield, from_a_plain_thread_without_a_runtime_returns) { weft::yield(); }

TEST_FOR_PROCS(checkpoint, a_loop_that_only_checkpoints_lets_others_run) {
  std::atomic<bool> stop{false};
  weft::event begun;
  auto h = weft::spawn([&] {
    begun.set();
    while (!stop) weft::checkpoint();
  });
  begun.wait();
  for (int i = 0; i < 5; ++i) weft::spawn([] {}).join();  // on one P: only after the hog's slice
  stop = true;
  h.join();
}

// B013: as many goroutines as Ps, each waiting in a loop for its turn: nobody gives its P up, so all must have one.
void spin_in_turn(unsigned n, int rounds) {
  std::atomic<int> turn{0};
  weft::wait_group wg;
  for (unsigned me = 0; me < n; ++me) {
    wg.go([&turn, n, me, rounds] {
      for (int r = 0; r < rounds; ++r) {
        const int mine = r * static_cast<int>(n) + static_cast<int>(me);
        for (int spins = 0; turn.load() != mine; ++spins) {
          if (spins % 1024 == 1023) std::this_thread::yield();  // the CPU, not the P
        }
        turn.store(mine + 1);
      }
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(parallelism, as_many_goroutines_as_ps_run_at_the_same_time) {
  for (int trial = 0; trial < 10; ++trial) spin_in_turn(weft::max_procs(), 10);
}

// B014: made by one another, after a burst that left threads going idle.
TEST_FOR_PROCS(parallelism, also_when_spawned_in_a_chain_after_a_burst) {
  const unsigned n = weft::max_procs();
  for (int trial = 0; trial < 10; ++trial) {
    std::atomic<int> sum{0};
    weft::wait_group burst;
    for (int i = 0; i < 100; ++i) burst.go([&] { ++sum; });
    burst.wait();
    std::atomic<unsigned> arrived{0};
    weft::wait_group wg;
    wg.add(static_cast<int>(n));
    struct chain {
      static void link(unsigned left, unsigned n, std::atomic<unsigned>& arrived,
                       weft::wait_group& wg) {
        if (left > 1) weft::go([=, &arrived, &wg] { link(left - 1, n, arrived, wg); });
        ++arrived;
        while (arrived.load() < n) std::this_thread::yield();  // holds its P until all are there
        wg.done();
      }
    };
    weft::go([&, n] { chain::link(n, n, arrived, wg); });
    wg.wait();
    EXPECT_EQ(arrived, n);
  }
}

// T-2, with the machine left out: P0's queue has a hundred, an idle P1 steals.
TEST(stealing, an_idle_p_takes_half_of_a_hundred_goroutines) {
  using queue = weft::rt::basic_run_queue<weft::base::std_atomics, int>;
  queue p0;
  queue p1;
  std::array<int, 100> tasks{};
  for (int& t : tasks) ASSERT_TRUE(p0.push(&t));
  ASSERT_NE(p1.steal_into(p0, false), nullptr);
  EXPECT_LT(p0.ring_size(), 60u);
  EXPECT_GT(p1.ring_size(), 40u);
}

// T-2: one P has many goroutines and holds on to its thread; the other runs them all.
TEST(stealing, what_waits_behind_a_goroutine_that_holds_its_p_is_stolen) {
  weft::test::run_on(2, [] {
    const auto before = weft::stats().steals;
    // A round in which our slice ends while we spawn may do without a theft.
    for (int round = 0; round < 20 && weft::stats().steals == before; ++round) {
      std::atomic<int> ran{0};
      for (int i = 0; i < 100; ++i) weft::go([&] { ++ran; });
      while (ran < 100) std::this_thread::yield();  // no runtime call: this P is busy
    }
    EXPECT_TRUE(weft::test::is_migrating() || weft::stats().steals > before);
  });
}

TEST(stealing, one_goroutine_at_the_front_is_stolen_too) {
  weft::test::run_on(2, [] {
    for (int i = 0; i < 50; ++i) {
      std::atomic<bool> ran{false};
      weft::go([&] { ran = true; });
      while (!ran) std::this_thread::yield();
    }
  });
}

// A P that has learned to run what is readied there itself keeps it to itself, and one day it computes on instead. The guard: so that nobody
// else gets the P, and it is not the end of a slice that helps.
TEST(stealing, what_a_p_kept_to_itself_runs_elsewhere_when_it_computes_on) {
  weft::test::run_on(2, [] {
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 300; ++i) weft::spawn([] {}).join();  // trust is won
      std::atomic<bool> ran{false};
      const weft::no_preempt guard;
      weft::go([&] { ran = true; });
      while (!ran) std::this_thread::yield();
    }
  });
}

// HAZARD 4 and 7: whatever is queued while some P is idle gets run, though its own P never looks.
TEST(stealing, work_is_conserved_under_random_yields) {
  weft::test::run_on(4, [] {
    weft::wait_group wg;
    std::atomic<int> sum{0};
    for (int i = 0; i < 20; ++i) {
      wg.go([&, i] {
        for (int n = 0; n < 50; ++n) {
          std::atomic<bool> ran{false};
          weft::go([&] {
            ++sum;
            ran = true;
          });
          if ((n + i) % 7 == 0) weft::yield();
          if (i < 2) {
            while (!ran) std::this_thread::yield();  // holds on to its P: two of four
          } else {
            while (!ran) weft::yield();
          }
        }
      });
    }
    wg.wait();
    EXPECT_EQ(sum, 1000);
  });
}

// T-4: all run, roughly in order: on each thread the goroutines come in the order in which they were made, but for the jumps that
// the front of the queue, a spill, a batch from the global queue or a theft make.
TEST_FOR_PROCS(fairness, a_thousand_goroutines_all_run_roughly_in_order) {
  constexpr int kCount = 1000;
  struct turn {
    int tid = 0;
    int who = -1;
  };
  std::vector<turn> turns(kCount);
  std::atomic<std::size_t> next{0};
  weft::wait_group wg;
  wg.add(kCount);
  for (int i = 0; i < kCount; ++i) {
    weft::go([&, i] {
      turns[next.fetch_add(1)] = {weft::test::thread_id(), i};
      wg.done();
    });
  }
  wg.wait();
  EXPECT_EQ(next, static_cast<std::size_t>(kCount));
  std::set<int> ran;
  std::map<int, int> last_on;
  int backwards = 0;
  for (const turn& t : turns) {
    ran.insert(t.who);
    const auto [at, is_first] = last_on.try_emplace(t.tid, t.who);
    backwards += t.who < at->second;
    at->second = t.who;
  }
  EXPECT_EQ(ran.size(), static_cast<std::size_t>(kCount));
  EXPECT_LT(backwards, 150) << "last in, first out would be 999, no order at all some 500";
}

// The global queue comes first every 61st time, however busy the P's own queue is.
TEST(fairness, the_global_queue_is_served_within_61_turns_of_a_busy_p) {
  weft::test::run_on(1, [] {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> turns{0};
    weft::wait_group wg;
    for (int i = 0; i < 3; ++i) {
      wg.go([&] {
        while (!stop) {
          turns.fetch_add(1);
          weft::yield();
        }
      });
    }
    std::thread outsider([&] {  // what it starts goes into the global queue
      for (int i = 0; i < 200; ++i) {
        std::atomic<std::uint64_t> at{0};
        weft::event ran;
        weft::go([&] {
          at = turns.load();
          ran.set();
        });
        const std::uint64_t queued = turns.load();
        ran.wait();
        // One of the three may have been stopped meanwhile and come before it: then it stands in the ring behind them.
        EXPECT_LE(at.load(), queued + 61 + 8) << "in round " << i;
      }
      stop = true;
    });
    wg.wait();
    weft::blocking([&] { outsider.join(); });
  });
}

// So it is where every switch leads through the scheduler, and a pair that readies each other runs in one slice for ever.
TEST(fairness, the_global_queue_is_served_within_61_turns_of_a_pair_whose_cpu_time_is_counted) {
  if (weft::test::is_migrating()) GTEST_SKIP() << "nobody is at the front";
  const weft::test::debug_setting metered("cputime=1");
  weft::test::run_on(1, [] {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> turns{0};
    weft::event a;
    weft::event b;
    weft::wait_group wg;
    const auto take_turns = [&](weft::event& mine, weft::event& yours) {
      while (!stop) {
        mine.wait();
        mine.reset();
        turns.fetch_add(1);
        yours.set();
      }
    };
    wg.go([&] { take_turns(a, b); });
    wg.go([&] { take_turns(b, a); });
    a.set();
    std::thread outsider([&] {  // what it starts goes into the global queue
      for (int i = 0; i < 20; ++i) {
        std::atomic<std::uint64_t> at{0};
        weft::event ran;
        const std::uint64_t begun = turns.load();
        while (turns.load() < begun + 100) std::this_thread::yield();  // the pair is at it
        weft::go([&] {
          at = turns.load();
          ran.set();
        });
        const std::uint64_t queued = turns.load();
        ran.wait();
        EXPECT_LE(at.load(), queued + 61 + 8) << "in round " << i;
      }
      stop = true;
      a.set();
      b.set();
    });
    wg.wait();
    weft::blocking([&] { outsider.join(); });
  });
}

// Whoever yields and has nobody to make room for takes some from a queue that holds more than its share. Nobody else does here: both processors
// are in use and are not given up.
TEST(stealing, who_yields_alone_takes_from_a_queue_that_has_more) {
  if (weft::test::is_unkind())
    GTEST_SKIP() << "no switch is direct, and somebody else decides who is next";
  weft::test::run_on(2, [] {
    std::atomic<bool> is_there{false};
    std::atomic<bool> stop{false};
    std::atomic<int> nran{0};
    weft::wait_group wg;
    const weft::no_preempt mine;
    wg.go([&] {
      const weft::no_preempt its;
      for (int i = 0; i < 3; ++i) wg.go([&] { ++nran; });  // one at the front, two behind
      is_there = true;
      while (!stop) asm volatile("");
    });
    while (!is_there) asm volatile("");
    for (int i = 0; i < 1000 && nran == 0; ++i) weft::yield();
    EXPECT_GT(nran, 0);
    stop = true;
    wg.wait();
    EXPECT_EQ(nran, 3);
  });
}

// A pair that readies each other for ever runs in one slice, which ends: those in the ring get their turn (B043's cause).
TEST(fairness, a_pair_that_takes_turns_does_not_starve_the_others) {
  weft::test::run_on(1, [] {
    std::atomic<bool> stop{false};
    weft::event a;
    weft::event b;
    weft::wait_group wg;
    wg.go([&] {
      while (!stop) {
        a.wait();
        a.reset();
        b.set();
      }
    });
    wg.go([&] {
      while (!stop) {
        a.set();
        b.wait();
        b.reset();
      }
    });
    for (int i = 0; i < 3; ++i)
      weft::yield();  // main waits in the ring while the pair is at the front
    stop = true;
    a.set();
    b.set();
    wg.wait();
  });
}

// How many of some sleeps ended late beside such a pair, in turns of the pair, since the machine may be busy too: a slice has some 100,000, and
// a P looks at its timers every 61.
[[nodiscard]] int late_sleeps_beside_a_pair(int nsleeps) {
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> due_ns{INT64_MAX};
  std::atomic<int> nturns_since_due{0};
  const auto now_ns = [] { return weft::clock::now().time_since_epoch().count(); };
  const auto to = weft::make_chan<int>(0);
  weft::wait_group wg;
  wg.go([&] {
    while (!stop) {
      to.send(1);
      if (now_ns() > due_ns) ++nturns_since_due;
    }
    to.close();
  });
  wg.go([&] {
    while (to.recv()) {
    }
  });
  int nlate = 0;
  for (int i = 0; i < nsleeps; ++i) {
    nturns_since_due = 0;
    const auto asked = std::chrono::microseconds(50 + i * 950 / nsleeps);
    due_ns = now_ns() + std::chrono::nanoseconds(asked).count();
    weft::sleep_for(asked);
    due_ns = INT64_MAX;
    nlate += nturns_since_due > 1000;
  }
  stop = true;
  wg.wait();
  return nlate;
}

// But it does not have its slice before those whom a timer wakes (B223). It depends on where a pair is when the P looks round whether it would,
// so there are some. One of ten sleeps may be seen to by a thread that has to wait for a CPU.
TEST(fairness, a_pair_that_takes_turns_does_not_keep_a_sleeper_waiting) {
  weft::test::run_on(1, [] {
    constexpr int kSleeps = 20;
    for (int i = 0; i < 10; ++i) EXPECT_LE(late_sleeps_beside_a_pair(kSleeps), kSleeps / 10);
  });
}

TEST_FOR_PROCS(run_queue, more_goroutines_than_the_ring_holds_all_run_once) {
  constexpr int kCount = 5000;  // the ring holds 256
  std::vector<std::atomic<int>> runs(kCount);
  weft::wait_group wg;
  wg.add(kCount);
  for (auto& r : runs)
    weft::go([&] {
      ++r;
      wg.done();
    });
  wg.wait();
  for (const auto& r : runs) ASSERT_EQ(r, 1);
}

}  // namespace
