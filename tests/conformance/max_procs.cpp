// max_procs.cpp: changing the number of processors while goroutines run (B020, B021, B023, B031, B033).
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// B023
TEST_FOR_PROCS(max_procs, zero_only_reads_and_a_number_returns_the_old_one) {
  const unsigned n = weft::max_procs();
  EXPECT_EQ(weft::max_procs(0), n);
  EXPECT_EQ(weft::max_procs(), n);
  EXPECT_EQ(weft::max_procs(n + 1), n);
  EXPECT_EQ(weft::max_procs(n), n + 1);
  EXPECT_EQ(weft::max_procs(n), n);
  EXPECT_EQ(weft::stats().max_procs, n);
}

TEST_FOR_PROCS(max_procs, absurd_numbers_are_rejected_and_change_nothing) {
  const unsigned n = weft::max_procs();
  EXPECT_THROW(weft::max_procs(100000), std::invalid_argument);
  EXPECT_THROW(weft::max_procs(~0u), std::invalid_argument);
  EXPECT_EQ(weft::max_procs(), n);
}

TEST(max_procs, options_reject_absurd_numbers_and_a_good_run_may_follow) {
  EXPECT_THROW(weft::run({.max_procs = 100000}, [] {}), std::invalid_argument);
  EXPECT_THROW(weft::run({.stack_size = (std::size_t{1} << 30) + 1}, [] {}), std::invalid_argument);
  EXPECT_THROW(weft::runtime({.max_procs = 4097}), std::invalid_argument);
  EXPECT_EQ(weft::run({.max_procs = 3}, [] { return static_cast<int>(weft::max_procs()); }), 3);
}

TEST(max_procs, without_a_runtime_it_cannot_be_changed) {
  EXPECT_THROW(weft::max_procs(2), weft::not_running);
  EXPECT_THROW(weft::default_max_procs(), weft::not_running);
  EXPECT_EQ(weft::max_procs(), 0u);
}

TEST(max_procs, the_default_is_at_least_one_and_not_more_than_the_cpus) {
  weft::run([] {
    EXPECT_GE(weft::max_procs(), 1u);
    EXPECT_LE(weft::max_procs(), weft::num_cpu());
  });
}

// B031
TEST(max_procs, default_max_procs_goes_back_to_the_machines_number) {
  weft::run([] {
    const unsigned machine = weft::max_procs();
    weft::max_procs(machine + 3);
    EXPECT_EQ(weft::default_max_procs(), machine);
    EXPECT_EQ(weft::max_procs(), machine);
  });
}

TEST(max_procs, the_largest_number_works) {
  if (weft::test::kIsTsan || weft::test::kIsAsan)
    GTEST_SKIP() << "too many threads for a sanitizer";
  weft::test::run_on(1, [] {
    weft::max_procs(4096);
    std::atomic<int> n{0};
    weft::wait_group wg;
    for (int i = 0; i < 1000; ++i) wg.go([&] { ++n; });
    wg.wait();
    EXPECT_EQ(n, 1000);
    weft::max_procs(2);
    for (int i = 0; i < 100; ++i) wg.go([&] { ++n; });
    wg.wait();
    EXPECT_EQ(n, 1100);
  });
}

// Pins every thread of the process to one CPU, or lets them all run anywhere again.
class one_cpu {
 public:
  one_cpu() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t first;
    CPU_ZERO(&first);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++i) {
      if (CPU_ISSET(i, &before_)) CPU_SET(i, &first);
    }
    set(first);
  }
  ~one_cpu() { set(before_); }
  one_cpu(const one_cpu&) = delete;
  one_cpu& operator=(const one_cpu&) = delete;

 private:
  static void set(const cpu_set_t& cpus) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      ::sched_setaffinity(std::stoi(task.path().filename()), sizeof cpus, &cpus);
    }
  }
  cpu_set_t before_;
};

// B032
TEST(max_procs, the_default_follows_the_machine_while_it_runs) {
  if (weft::num_cpu() < 2) GTEST_SKIP() << "one CPU only";
  weft::run([] {
    const unsigned machine = weft::max_procs();
    {
      const one_cpu pinned;
      EXPECT_TRUE(weft::test::eventually([] { return weft::max_procs() == 1; }));
    }
    EXPECT_TRUE(weft::test::eventually([&] { return weft::max_procs() == machine; }));
  });
}

// B033: it would have followed within a second.
TEST(max_procs, a_number_set_by_hand_stays) {
  if (weft::num_cpu() < 2) GTEST_SKIP() << "one CPU only";
  weft::run([] {
    weft::max_procs(3);
    const one_cpu pinned;
    const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    while (std::chrono::steady_clock::now() < enough) {
      ASSERT_EQ(weft::max_procs(), 3u);
      weft::yield();
    }
  });
}

// A P that is taken away has a full queue: everything in it runs.
TEST_FOR_PROCS(max_procs, shrinking_with_full_queues_loses_nothing) {
  constexpr int kCount = 2000;
  for (int round = 0; round < 10; ++round) {
    weft::max_procs(4);
    std::vector<std::atomic<int>> runs(kCount);
    weft::wait_group wg;
    wg.add(kCount);
    for (auto& r : runs) {
      weft::go([&] {
        weft::yield();
        ++r;
        wg.done();
      });
    }
    weft::max_procs(1);
    wg.wait();
    for (const auto& r : runs) ASSERT_EQ(r, 1);
  }
}

TEST_FOR_PROCS(max_procs, growing_gives_waiting_goroutines_a_p) {
  weft::max_procs(1);
  std::atomic<bool> ran{false};
  weft::go([&] { ran = true; });
  weft::max_procs(2);
  while (!ran) std::this_thread::yield();  // our P is busy: only the new one can run it
}

TEST_FOR_PROCS(max_procs, it_is_seen_by_parallel_goroutines) {
  for (const unsigned n : {3u, 1u, 4u, 2u}) {
    weft::max_procs(n);
    std::atomic<unsigned> arrived{0};
    weft::wait_group wg;
    for (unsigned i = 0; i < n; ++i) {
      wg.go([&, n] {
        ++arrived;
        while (arrived < n) std::this_thread::yield();
      });
    }
    wg.wait();
    EXPECT_EQ(arrived, n);
  }
}

// B020
TEST_FOR_PROCS(max_procs_race, pairs_that_respawn_each_other_do_not_stop_a_resize) {
  std::atomic<bool> stop{false};
  weft::wait_group ended;
  struct pair {
    static void ping(std::atomic<bool>& stop, weft::wait_group& ended) {
      if (stop) return ended.done();
      weft::go([&] { pong(stop, ended); });
    }
    static void pong(std::atomic<bool>& stop, weft::wait_group& ended) {
      if (stop) return ended.done();
      weft::go([&] { ping(stop, ended); });
    }
  };
  for (int i = 0; i < 2; ++i) {
    ended.add(1);
    weft::go([&] { pair::ping(stop, ended); });
  }
  for (int i = 0; i < weft::test::scaled(15); ++i) {
    weft::max_procs(1 + static_cast<unsigned>(i % 4));
    weft::yield();
  }
  stop = true;
  ended.wait();
}

// B021
TEST_FOR_PROCS(max_procs_race, several_resize_at_once_while_goroutines_run) {
  std::atomic<bool> stop{false};
  std::atomic<int> sum{0};
  weft::wait_group workers;
  for (int i = 0; i < 4; ++i) {
    workers.go([&] {
      while (!stop) {
        weft::spawn([&] { ++sum; }).join();
        weft::yield();
      }
    });
  }
  const std::uint64_t seed = weft::test::seed();
  weft::wait_group resizers;
  for (int i = 0; i < 3; ++i) {
    resizers.go([&, i] {
      std::minstd_rand random(static_cast<unsigned>(seed) + static_cast<unsigned>(i));
      for (int n = 0; n < weft::test::scaled(40); ++n) weft::max_procs(1 + random() % 6);
    });
  }
  resizers.wait();
  stop = true;
  workers.wait();
  EXPECT_GT(sum, 0);
  EXPECT_GE(weft::max_procs(), 1u);
  EXPECT_LE(weft::max_procs(), 6u);
}

TEST_FOR_PROCS(max_procs_race, locked_goroutines_survive_a_resize) {
  std::atomic<bool> stop{false};
  weft::wait_group wg;
  for (int i = 0; i < 3; ++i) {
    wg.go([&] {
      weft::lock_os_thread();
      const int tid = weft::test::thread_id();
      while (!stop) {
        weft::yield();
        ASSERT_EQ(weft::test::thread_id(), tid);
      }
      weft::unlock_os_thread();
    });
  }
  for (int i = 0; i < weft::test::scaled(40); ++i)
    weft::max_procs(1 + static_cast<unsigned>(i % 3));
  stop = true;
  wg.wait();
}

TEST_FOR_PROCS(max_procs_race, a_goroutine_without_runtime_calls_runs_on_through_resizes) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> loops{0};
  weft::max_procs(2);
  auto h = weft::spawn([&] {
    while (!stop) loops.fetch_add(1, std::memory_order_relaxed);  // its P is taken and given back
    return weft::this_goroutine::id();
  });
  ASSERT_TRUE(weft::test::eventually([&] { return loops > 0; }));
  for (int i = 0; i < weft::test::scaled(40); ++i)
    weft::max_procs(2 + static_cast<unsigned>(i % 3));
  stop = true;
  EXPECT_NE(h.join(), 0u);
}

}  // namespace
