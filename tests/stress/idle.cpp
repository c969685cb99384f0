// idle.cpp: work that comes just when a processor goes to rest. Whoever started it computes on and is not stopped, so nobody makes good what is
// forgotten: the test hangs until its limit, or the watch of src/sched/conserve.hpp ends it sooner. (A busier program makes good a lost
// wake-up with the next one, and shows nothing.)
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

using namespace std::chrono_literals;

// Waits without a call into weft. False: it did not come true.
template <class Condition>
bool watch(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + 20s;  // to end a hang
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

// For about as long as a thread takes to go to sleep, or not at all.
void compute_a_little(std::mt19937_64& random) {
  for (std::uint64_t i = random() % 3000; i > 0; --i) asm volatile("");
}

// So many compute, and each time start one or some that the other processors must run.
void start_and_compute(unsigned nprocs, unsigned ncomputing, int nrounds) {
  const std::uint64_t seed = weft::test::seed();
  weft::test::run_on(nprocs, [&] {
    std::atomic<int> nforgotten{0};
    weft::wait_group all;
    for (unsigned i = 0; i < ncomputing; ++i) {
      all.go([&, i] {
        std::mt19937_64 random(seed + i);
        const weft::no_preempt mine;
        for (int round = 0; round < nrounds && nforgotten == 0; ++round) {
          auto nwaiting = std::make_shared<std::atomic<unsigned>>(1 + random() % nprocs);
          for (unsigned n = *nwaiting; n > 0; --n) {
            weft::go([nwaiting] { --*nwaiting; });
            compute_a_little(random);
          }
          if (!watch([&] { return *nwaiting == 0; })) ++nforgotten;
          compute_a_little(random);
        }
      });
    }
    all.wait();
    EXPECT_EQ(nforgotten, 0);
  });
}

TEST(idle_race, what_a_computing_goroutine_starts_is_run_by_the_processor_that_goes_to_rest) {
  start_and_compute(2, 1, weft::test::scaled(200));
}
TEST(idle_race, what_several_start_at_once_is_run_by_the_one_that_goes_to_rest) {
  start_and_compute(4, 3, weft::test::scaled(100));
}
TEST(idle_race, what_one_starts_is_run_by_several_that_go_to_rest_one_after_the_other) {
  start_and_compute(4, 1, weft::test::scaled(100));
}
TEST(idle_race, what_two_start_is_run_by_several_that_go_to_rest_one_after_the_other) {
  start_and_compute(6, 2, weft::test::scaled(100));
}

TEST(idle_race, what_plain_threads_start_is_run_by_those_that_go_to_rest) {
  const std::uint64_t seed = weft::test::seed();
  weft::runtime rt({.max_procs = 2});
  std::atomic<int> nforgotten{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(seed + t);
      for (int round = 0; round < weft::test::scaled(300) && nforgotten == 0; ++round) {
        auto h = weft::spawn([] {});
        if (!watch([&] { return h.wait_for(0s); })) ++nforgotten;
        compute_a_little(random);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(nforgotten, 0);
}

// Timers that are armed just when everybody goes to rest, on processors that others then leave alone.
TEST(idle_race, a_timer_that_is_armed_by_the_last_one_awake_fires) {
  const std::uint64_t seed = weft::test::seed();
  weft::test::run_on(4, [&] {
    weft::wait_group all;
    std::atomic<int> nlate{0};
    for (std::uint64_t i = 0; i < 3; ++i) {
      all.go([&, i] {
        std::mt19937_64 random(seed + i);
        for (int round = 0; round < weft::test::scaled(300); ++round) {
          const auto begin = weft::clock::now();
          weft::sleep_for(std::chrono::microseconds(random() % 100));
          if (weft::clock::now() - begin > 20s) ++nlate;  // nobody looked
          compute_a_little(random);
        }
      });
    }
    all.wait();
    EXPECT_EQ(nlate, 0);
  });
}

}  // namespace
