// bubble_word_test.cpp: who counts in a bubble, and that its keeper is woken exactly once.
#include "rt/bubble_word.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace weft::rt {
namespace {

using word = basic_bubble_word<os::futex_atomics>;

TEST(bubble_word, the_keeper_alone_stays_awake) {
  word w;
  EXPECT_TRUE(w.is_quiet());
  EXPECT_FALSE(w.sleep());
  EXPECT_TRUE(w.is_quiet());
}

TEST(bubble_word, the_last_one_wakes_the_keeper) {
  word w;
  w.count_in();
  w.count_in();
  EXPECT_FALSE(w.is_quiet());
  ASSERT_TRUE(w.sleep());
  EXPECT_FALSE(w.count_out());
  EXPECT_TRUE(w.count_out());
  EXPECT_TRUE(w.is_quiet()) << "it is counted again";
}

TEST(bubble_word, a_keeper_that_is_awake_is_not_woken) {
  word w;
  w.count_in();
  EXPECT_FALSE(w.count_out());
  EXPECT_FALSE(w.sleep());
}

TEST(bubble_word, whoever_is_counted_in_again_is_not_missed) {
  word w;
  w.count_in();
  ASSERT_TRUE(w.sleep());
  w.count_in();  // its waker, before its own step
  EXPECT_FALSE(w.count_out());
  EXPECT_TRUE(w.count_out());
}

// Goroutines that are blocked and woken from outside, where nobody is counted, while the keeper sleeps again and again.
TEST(bubble_word_race, each_sleep_ends_once) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 3000;
  word w;
  std::atomic<int> nwakes{0};
  std::atomic<int> nended{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) w.count_in();
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kRounds; ++k) {
        if (w.count_out()) ++nwakes;
        if (k % 16 == 0) std::this_thread::yield();
        w.count_in();
      }
      ++nended;
      if (w.count_out()) ++nwakes;
    });
  }
  int nsleeps = 0;
  while (nended < kThreads || !w.is_quiet()) {
    if (!w.sleep()) continue;
    ++nsleeps;
    while (nwakes < nsleeps) std::this_thread::yield();
    ASSERT_EQ(nwakes, nsleeps);
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(nwakes, nsleeps);
  EXPECT_FALSE(w.sleep());
}

}  // namespace
}  // namespace weft::rt
