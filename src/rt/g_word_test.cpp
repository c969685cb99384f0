// g_word_test.cpp: who has a goroutine that waits: its waker, or for a moment somebody who looks at it; and under a race.
#include "rt/g_word.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace weft::rt {
namespace {

const auto nobody_holds_it = [] { FAIL() << "nobody holds it"; };

TEST(g_word, says_what_it_has_become) {
  g_word w(g_status::idle);
  EXPECT_EQ(w.status(), g_status::idle);
  for (const g_status s : {g_status::runnable, g_status::running, g_status::waiting}) {
    w.become(s);
    EXPECT_EQ(w.status(), s);
  }
}

TEST(g_word, only_one_that_waits_can_be_held_and_by_one_at_a_time) {
  for (const g_status s : {g_status::idle, g_status::runnable, g_status::running, g_status::syscall,
                           g_status::preempted, g_status::dead, g_status::asleep}) {
    g_word w(s);
    EXPECT_FALSE(w.hold()) << name_of(s);
    EXPECT_FALSE(w.settle()) << name_of(s);
    EXPECT_EQ(w.status(), s);
  }
  g_word w(g_status::waiting);
  EXPECT_TRUE(w.hold());
  EXPECT_EQ(w.status(), g_status::waiting) << "held or not, it waits";
  EXPECT_FALSE(w.hold());
  EXPECT_FALSE(w.settle());
  w.let_go();
  EXPECT_TRUE(w.hold());
}

TEST(g_word, is_seen_to_once_in_a_wait_when_it_was_settled) {
  g_word w(g_status::waiting);
  EXPECT_FALSE(w.is_settled());
  EXPECT_TRUE(w.settle());
  EXPECT_FALSE(w.settle()) << "it has the mark";
  EXPECT_TRUE(w.is_settled());
  ASSERT_TRUE(w.hold());
  EXPECT_FALSE(w.is_settled()) << "somebody is at it";
  w.let_go();
  EXPECT_TRUE(w.is_settled()) << "one who only looks leaves the marks";
  ASSERT_TRUE(w.hold());
  w.let_go(kTrimmed);
  EXPECT_FALSE(w.is_settled());
  EXPECT_FALSE(w.settle());
  EXPECT_EQ(w.status(), g_status::waiting);
}

TEST(g_word, is_claimed_with_any_marks_and_they_go) {
  for (const std::uint32_t mark : {0u, kTrimmed}) {
    for (const bool is_settled : {false, true}) {
      g_word w(g_status::waiting);
      ASSERT_EQ(is_settled && w.settle(), is_settled);
      ASSERT_TRUE(w.hold());
      w.let_go(mark);
      w.claim(nobody_holds_it);
      EXPECT_EQ(w.status(), g_status::runnable);
      w.become(g_status::running);
      w.become(g_status::waiting);
      EXPECT_TRUE(w.settle()) << "no mark is left of the wait before";
    }
  }
}

TEST(g_word, whoever_claims_one_that_is_held_waits_until_it_is_let_go) {
  g_word w(g_status::waiting);
  ASSERT_TRUE(w.hold());
  int ntries = 0;
  w.claim([&] {
    EXPECT_EQ(w.status(), g_status::waiting);
    if (++ntries == 3) w.let_go(kTrimmed);
  });
  EXPECT_EQ(ntries, 3);
  EXPECT_EQ(w.status(), g_status::runnable);
}

TEST(g_word, who_does_not_wait_cannot_be_woken) {
  if (!kWeftDebugChecks) GTEST_SKIP() << "needs WEFT_DEBUG_CHECKS";
  g_word w(g_status::running);
  EXPECT_DEATH(w.claim(nobody_holds_it), "");
}

// A goroutine goes to sleep and is woken by turns, while two others hold it whenever they can. Its stack is a number that is not atomic.
TEST(g_word_race, its_stack_is_used_by_one_at_a_time) {
  constexpr int kWaits = 2'000;
  g_word w(g_status::running);
  long stack = 0;
  long nheld = 0;
  std::atomic<bool> is_over{false};
  const auto hold_often = [&](std::uint32_t mark) {
    while (!is_over.load()) {
      w.settle();
      if (!w.hold()) {
        std::this_thread::yield();
        continue;
      }
      ++stack;
      ++nheld;
      w.let_go(mark);
    }
  };
  std::thread scavenger([&] { hold_often(kTrimmed); });
  std::thread census([&] { hold_often(0); });
  for (int i = 0; i < kWaits; ++i) {
    ++stack;
    w.become(g_status::waiting);
    if (i % 16 == 0) std::this_thread::yield();
    w.claim([] { std::this_thread::yield(); });
    w.become(g_status::running);
  }
  is_over = true;
  scavenger.join();
  census.join();
  EXPECT_EQ(stack, kWaits + nheld);
}

}  // namespace
}  // namespace weft::rt
