// internal_test.cpp: the runtime's own checks notice what they are there for.
#include "base/check.hpp"
#include "death.hpp"

#include <utility>

namespace weft::test {
namespace {

TEST(scheduler_lock, every_function_that_requires_it_says_so_when_it_is_free) {
  if (!kWeftDebugChecks) GTEST_SKIP() << "the runtime's own checks are not built in";
  for (const char* function : {"put_idle", "take_idle", "take_idle_spinning", "attach", "start",
                               "wake_one", "count_stopped", "mark_alone", "new_m", "free_m"}) {
    const child_end ended = scenario(std::string("unlocked_") + function);
    EXPECT_TRUE(exited(ended, 2)) << function;
    EXPECT_TRUE(said_like(ended.err, "^fatal error: weft: internal check failed: requires L"))
        << function << ": " << ended.err;
    EXPECT_EQ(ended.out, "") << function;
  }
}

TEST(conserve, a_lost_wake_up_is_fatal_where_that_is_asked_for_and_says_what_was_queued_where) {
  const child_end ended = scenario("a_lost_wake_up", {{"WEFT_DEBUG", "conserve=1"}});
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_TRUE(
      said_like(ended.err,
                "^fatal error: weft: a wake-up was lost: a processor has been idle for "
                "[0-9]+ ms while goroutines were queued, and nobody is on the way "
                "\\(2 of 2 processors idle, 0 counted as spinning, 1 in the global queue\\)"));
  EXPECT_EQ(ended.out, "");
}

TEST(conserve, a_lost_wake_up_is_made_good_where_it_is_not_fatal) {
  const child_end ended = scenario("a_lost_wake_up");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_TRUE(said(ended.out, "it ran"));
}

#if defined(WEFT_DEBUG_CHECKS) && WEFT_DEBUG_CHECKS
TEST(lock_order, a_lock_out_of_order_is_fatal_and_named) {
  const std::pair<const char*, const char*> kCases[] = {
      {"locks_upwards", "the scheduler lock is taken while the stacks lock is held"},
      {"locks_the_same_rank_twice", "the waiters lock is taken while the waiters lock is held"},
      {"locks_channels_against_their_addresses",
       "the channel lock is taken while the channel lock is held"},
      {"locks_upwards_after_try_lock", "the scheduler lock is taken while the slab lock is held"},
      {"locks_where_it_may_be_stopped",
       "the waiters lock is taken where a goroutine may be stopped"},
      {"frees_a_lock_it_does_not_hold", "a lock is freed by the thread that took it"}};
  for (const auto& [name, what] : kCases) {
    const child_end ended = scenario(name);
    EXPECT_TRUE(exited(ended, 2)) << name;
    EXPECT_TRUE(said(ended.err, std::string("fatal error: weft: internal check failed: ") + what))
        << name << ": " << ended.err;
    EXPECT_EQ(ended.out, "") << name;
  }
}
#endif

}  // namespace
}  // namespace weft::test
