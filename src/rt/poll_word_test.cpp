// poll_word_test.cpp: the steps of waiter, poller and whoever moves the end, in every order that matters; and all at once.
#include "rt/poll_word.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/atomics.hpp"

namespace weft::rt {
namespace {

struct waiter {
  std::atomic<bool> is_told{false};
};
using word = basic_poll_word<base::std_atomics, waiter>;

TEST(poll_word, news_that_finds_nobody_is_kept_for_the_next_one) {
  word w;
  waiter a;
  EXPECT_EQ(w.notify(), nullptr);
  EXPECT_FALSE(w.enter(&a)) << "no need to wait";
  EXPECT_TRUE(w.enter(&a)) << "but only once";
}

TEST(poll_word, much_news_counts_as_one) {
  word w;
  waiter a;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(w.notify(), nullptr);
  EXPECT_FALSE(w.enter(&a));
  EXPECT_TRUE(w.enter(&a));
}

TEST(poll_word, news_finds_the_waiter_once_and_leaves_nothing) {
  word w;
  waiter a;
  ASSERT_TRUE(w.enter(&a));
  EXPECT_EQ(w.notify(), &a);
  EXPECT_TRUE(w.enter(&a)) << "what woke it is not told again";
  EXPECT_EQ(w.notify(), &a);
  EXPECT_EQ(w.notify(), nullptr) << "this one is for the next";
  EXPECT_FALSE(w.enter(&a));
}

TEST(poll_word, whoever_withdraws_in_time_is_not_woken) {
  word w;
  waiter a;
  ASSERT_TRUE(w.enter(&a));
  EXPECT_TRUE(w.withdraw(&a));
  EXPECT_EQ(w.evict(), nullptr);
  EXPECT_EQ(w.notify(), nullptr) << "kept";
  EXPECT_FALSE(w.enter(&a));
}

TEST(poll_word, whoever_withdraws_too_late_learns_that_he_will_be_woken) {
  word w;
  waiter a;
  ASSERT_TRUE(w.enter(&a));
  EXPECT_EQ(w.notify(), &a);
  EXPECT_FALSE(w.withdraw(&a));
  ASSERT_TRUE(w.enter(&a));
  EXPECT_EQ(w.evict(), &a);
  EXPECT_FALSE(w.withdraw(&a));
}

TEST(poll_word, withdrawing_after_being_told_keeps_later_news) {
  word w;
  waiter a;
  ASSERT_TRUE(w.enter(&a));
  EXPECT_EQ(w.notify(), &a);
  EXPECT_EQ(w.notify(), nullptr);
  EXPECT_FALSE(w.withdraw(&a));
  EXPECT_FALSE(w.enter(&a)) << "the second news was not taken away by the withdrawal";
}

TEST(poll_word, evict_takes_the_waiter_and_no_news) {
  word w;
  waiter a;
  EXPECT_EQ(w.evict(), nullptr) << "nobody there";
  EXPECT_EQ(w.notify(), nullptr);
  EXPECT_EQ(w.evict(), nullptr) << "news is nobody to wake";
  EXPECT_FALSE(w.enter(&a)) << "and it is still there";
  ASSERT_TRUE(w.enter(&a));
  EXPECT_EQ(w.evict(), &a);
  EXPECT_EQ(w.evict(), nullptr);
  EXPECT_TRUE(w.enter(&a)) << "an eviction leaves nothing behind";
}

TEST(poll_word, one_who_is_evicted_is_not_told_too) {
  word w;
  waiter a;
  ASSERT_TRUE(w.enter(&a));
  EXPECT_EQ(w.evict(), &a);
  EXPECT_EQ(w.notify(), nullptr);
  EXPECT_FALSE(w.enter(&a));
}

TEST(poll_word, reset_forgets_news) {
  word w;
  waiter a;
  EXPECT_EQ(w.notify(), nullptr);
  w.reset();
  EXPECT_TRUE(w.enter(&a));
}

// One waits and tries in turn; one tells after each thing that happens; one evicts all the time. Everything that happened is seen.
TEST(poll_word_race, nothing_that_happened_is_missed_and_nobody_is_woken_twice) {
  constexpr int kRounds = 20'000;
  word w;
  std::atomic<int> nhappened{0};
  std::atomic<bool> is_over{false};
  std::atomic<int> nwoken_twice{0};
  const auto wake = [&](waiter* who) {
    if (who != nullptr && who->is_told.exchange(true)) ++nwoken_twice;
  };
  std::thread poller([&] {
    for (int i = 0; i < kRounds; ++i) {
      ++nhappened;
      wake(w.notify());
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  std::thread evictor([&] {
    while (!is_over) {
      wake(w.evict());
      std::this_thread::yield();
    }
  });
  int nseen = 0;
  waiter a;
  for (int i = 0; nseen < kRounds; ++i) {
    const int now = nhappened;
    if (now != nseen) {
      nseen = now;
      continue;
    }
    a.is_told = false;
    if (!w.enter(&a)) continue;
    if (i % 3 == 0 && w.withdraw(&a)) continue;
    while (!a.is_told) std::this_thread::yield();  // for ever, if news was lost
  }
  is_over = true;
  poller.join();
  evictor.join();
  EXPECT_EQ(nwoken_twice, 0);
}

}  // namespace
}  // namespace weft::rt
