// storm.cpp: everything at once, for a second or two, with random choices. What is counted must come out even.
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// A tree of goroutines that do something random and have children. Every one that begins ends.
struct storm {
  std::atomic<int> budget;  // goroutines that may still be started
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  weft::wait_group wg;

  explicit storm(int n) : budget(n) {}

  void blow(std::uint64_t seed) {
    ++begun;
    std::minstd_rand random(static_cast<unsigned>(seed));
    random();
    switch (random() % 8) {
      case 0:
        weft::yield();
        break;
      case 1:
        weft::blocking([] { std::this_thread::yield(); });
        break;
      case 2: {
        weft::event e;
        weft::go([&e] { e.set(); });
        e.wait();
        break;
      }
      case 3:
        weft::lock_os_thread();
        weft::yield();
        if (random() % 8 != 0) weft::unlock_os_thread();
        break;
      case 4:
        try {
          throw static_cast<int>(seed);
        } catch (int n) {
          weft::yield();
          if (n != static_cast<int>(seed)) ADD_FAILURE() << "somebody else's exception";
        }
        break;
      case 5:
        weft::max_procs(1 + random() % 5);
        break;
      case 6:
        if (weft::spawn([] { return 5; }).join() != 5) ADD_FAILURE() << "somebody else's result";
        break;
      default:
        break;
    }
    for (unsigned children = random() % 3 + 1; children > 0; --children) {
      if (budget.fetch_sub(1) <= 0) break;
      wg.go([this, next = random()] { blow(next); });
    }
    ++ended;
  }
};

TEST_FOR_PROCS(stress, a_storm_of_everything_comes_out_even) {
  const std::uint64_t seed = weft::test::seed();
  const int per_round = weft::test::is_migrating() ? 300 : weft::test::scaled(3000);
  for (int round = 0; round < 3; ++round) {
    storm s(per_round);
    for (std::uint64_t i = 0; i < 4; ++i)
      s.wg.go([&s, n = seed + i + static_cast<std::uint64_t>(round)] { s.blow(n); });
    s.wg.wait();
    EXPECT_EQ(s.begun, s.ended);
    EXPECT_GE(s.begun, 4);
    EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }))
        << weft::num_goroutines();
  }
}

TEST_FOR_PROCS(stress, threads_of_all_kinds_hand_work_around) {
  constexpr int kThreads = 3;
  const int per_thread = weft::test::scaled(500);
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      weft::wait_group wg;
      for (int i = 0; i < per_thread; ++i) {
        wg.go([&] { sum += weft::spawn([] { return 1; }).join(); });
        if (i % 50 == 0) wg.wait();
      }
      wg.wait();
    });
  }
  for (auto& t : threads) weft::blocking([&] { t.join(); });
  EXPECT_EQ(sum, kThreads * per_thread);
}

TEST(stress, runtimes_come_and_go_with_work_in_flight) {
  const std::uint64_t seed = weft::test::seed();
  std::minstd_rand random(static_cast<unsigned>(seed));
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    const unsigned nprocs = 1 + random() % 4;
    const unsigned yields = random() % 20;
    weft::run({.max_procs = nprocs}, [&] {
      static weft::event never;
      for (int n = 0; n < 20; ++n) {
        weft::go([] { never.wait(); });
        weft::go([] {
          for (;;) weft::yield();
        });
        weft::go([] { weft::blocking([] { std::this_thread::yield(); }); });
      }
      for (unsigned n = 0; n < yields; ++n) weft::yield();
    });
  }
}

}  // namespace
