// timed_wait_word_test.cpp: who wakes whom, in every order, and under a race.
#include "rt/timed_wait_word.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

namespace weft::rt {
namespace {

// One of the three comes; says whether somebody was woken (or did not wait) because of it.
bool come(timed_wait_word& w, wait_mark who) {
  return who == wait_mark::parked ? !w.park() : w.end(who);
}

TEST(timed_wait_word, in_every_order_the_waiter_goes_on_exactly_once) {
  std::array order{wait_mark::parked, wait_mark::woken, wait_mark::timed_out};
  do {
    timed_wait_word w;
    int ngone_on = 0;
    for (const wait_mark who : order) ngone_on += come(w, who) ? 1 : 0;
    EXPECT_EQ(ngone_on, 1);
    for (const wait_mark who : order) EXPECT_TRUE(w.has(who));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(timed_wait_word, one_end_is_enough_and_only_after_it_is_parked) {
  for (const wait_mark who : {wait_mark::woken, wait_mark::timed_out}) {
    timed_wait_word early;
    EXPECT_FALSE(early.end(who)) << "it has not left its stack";
    EXPECT_FALSE(early.park()) << "and need not wait";
    timed_wait_word late;
    EXPECT_TRUE(late.park());
    EXPECT_FALSE(late.has(who));
    EXPECT_TRUE(late.end(who));
  }
}

TEST(timed_wait_word_race, in_every_order_the_waiter_goes_on_exactly_once) {
  constexpr int kRounds = 3000;
  struct round {
    timed_wait_word word;
    std::atomic<int> ngone_on{0};
  };
  static std::array<round, kRounds> rounds;
  std::array<std::atomic<int>, 3> at{};
  std::array<std::thread, 3> threads;
  for (std::size_t i = 0; i < 3; ++i) {
    threads[i] = std::thread([&, i] {
      const std::array who{wait_mark::parked, wait_mark::woken, wait_mark::timed_out};
      for (int r = 0; r < kRounds; ++r) {
        at[i] = r;
        for (const auto& other : at) {  // about at the same time
          for (int spins = 0; other < r && spins < 50; ++spins) std::this_thread::yield();
        }
        if (come(rounds[static_cast<std::size_t>(r)].word, who[i]))
          ++rounds[static_cast<std::size_t>(r)].ngone_on;
      }
    });
  }
  for (auto& t : threads) t.join();
  for (const auto& r : rounds) ASSERT_EQ(r.ngone_on, 1);
}

}  // namespace
}  // namespace weft::rt
