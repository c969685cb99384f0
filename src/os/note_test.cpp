// note_test.cpp: waking a thread that sleeps on its note, or on something else.
#include "os/note.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "os/clock.hpp"

namespace weft::os {
namespace {

TEST(note, a_wake_up_before_the_sleep_is_found_by_it_and_counts_once) {
  note n;
  EXPECT_FALSE(n.wake());
  EXPECT_FALSE(n.wake());
  EXPECT_TRUE(n.sleep());
  EXPECT_FALSE(n.sleep(now_ns() + kMillisecond)) << "the deadline passed: nothing was left";
}

TEST(note, a_deadline_is_never_early) {
  note n;
  const std::int64_t deadline = now_ns() + 2 * kMillisecond;
  EXPECT_FALSE(n.sleep(deadline));
  EXPECT_GE(now_ns(), deadline);
}

TEST(note, one_that_sleeps_is_woken) {
  note n;
  std::thread waker([&] { n.wake(); });
  EXPECT_TRUE(n.sleep());
  waker.join();
}

TEST(note_elsewhere, a_wake_up_that_came_before_keeps_the_owner_here) {
  note n;
  EXPECT_FALSE(n.wake());
  EXPECT_FALSE(n.begin_elsewhere());
  EXPECT_TRUE(n.begin_elsewhere()) << "it was taken";
  n.end_elsewhere();
}

TEST(note_elsewhere, the_first_waker_is_told_to_fetch_the_owner_and_the_others_not) {
  note n;
  ASSERT_TRUE(n.begin_elsewhere());
  EXPECT_TRUE(n.wake());
  EXPECT_FALSE(n.wake());
  n.end_elsewhere();
  EXPECT_FALSE(n.sleep(now_ns() + kMillisecond)) << "the wake-up went with the return";
}

TEST(note_elsewhere, one_that_comes_back_by_itself_is_woken_in_the_ordinary_way_again) {
  note n;
  ASSERT_TRUE(n.begin_elsewhere());
  n.end_elsewhere();
  EXPECT_FALSE(n.wake()) << "it is not elsewhere";
  EXPECT_TRUE(n.sleep());
  std::thread waker([&] { EXPECT_FALSE(n.wake()); });
  EXPECT_TRUE(n.sleep());
  waker.join();
}

// The owner goes to a place that a flag fetches it from. Each wake-up is followed by a return, wherever it was.
TEST(note_elsewhere_race, no_wake_up_is_lost_wherever_the_owner_sleeps) {
  constexpr int kRounds = 4'000;
  note n;
  std::atomic<bool> is_fetched{false};
  std::atomic<int> nwoken{0};
  std::atomic<int> nanswered{0};
  std::thread waker([&] {
    for (int i = 0; i < kRounds; ++i) {
      ++nwoken;
      if (n.wake()) is_fetched = true;
      while (nanswered != nwoken) std::this_thread::yield();  // for ever, if it was lost
    }
  });
  for (int i = 0; nanswered < kRounds; ++i) {
    if (i % 2 == 0) {
      n.sleep(now_ns() + kMillisecond / 10);
    } else if (n.begin_elsewhere()) {
      for (int k = 0; k < 50 && !is_fetched.exchange(false); ++k) std::this_thread::yield();
      n.end_elsewhere();
    }
    nanswered = nwoken.load();
  }
  waker.join();
  EXPECT_EQ(nanswered, kRounds);
}

}  // namespace
}  // namespace weft::os
