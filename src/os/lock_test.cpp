// lock_test.cpp: the runtime's own lock.
#include "os/lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

namespace weft::os {
namespace {

using test_lock = lock<lock_rank::slab>;

TEST(lock, only_one_holds_it) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 100'000;
  test_lock l;
  long sum = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const lock_guard held(l);
        ++sum;
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(sum, long{kThreads} * kTurns);
  EXPECT_FALSE(l.is_held());
}

TEST(lock, try_lock_does_not_wait) {
  test_lock l;
  ASSERT_TRUE(l.try_lock());
  std::thread([&] { EXPECT_FALSE(l.try_lock()); }).join();
  l.unlock();
  std::thread([&] {
    EXPECT_TRUE(l.try_lock());
    l.unlock();
  }).join();
}

std::chrono::nanoseconds used_by_this_thread() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// A holder that has lost its CPU must not cost another one.
TEST(lock, whoever_waits_long_sleeps) {
  using namespace std::chrono_literals;
  constexpr auto kHeldFor = 200ms;
  test_lock l;
  l.lock();
  std::atomic<bool> is_waiting{false};
  std::chrono::nanoseconds used{};
  std::thread waiter([&] {
    is_waiting = true;
    const auto before = used_by_this_thread();
    l.lock();
    used = used_by_this_thread() - before;
    l.unlock();
  });
  while (!is_waiting) std::this_thread::yield();
  std::this_thread::sleep_for(kHeldFor);
  l.unlock();
  waiter.join();
  EXPECT_LT(used, kHeldFor / 4);
}

}  // namespace
}  // namespace weft::os
