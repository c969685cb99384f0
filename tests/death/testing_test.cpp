// testing_test.cpp: what weft::testing says when a program dies of it.
#include "death.hpp"

namespace weft::test {
namespace {

TEST(testing_death, an_exception_of_a_goroutine_names_the_seed_first) {
  const child_end ended = scenario("explore_a_goroutine_throws");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_EQ(ended.err.rfind("weft::testing::explore: seed 5 failed; replay with WEFT_SEED=5\n", 0),
            0u)
      << ended.err;
  EXPECT_TRUE(
      said_like(ended.err, "^panic: uncaught exception std::runtime_error: nobody catches it"));
}

TEST(testing_death, leak_check_says_who_and_aborts) {
  const child_end ended = scenario("leak_check_aborts");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said_like(ended.err, "^weft::testing::leak_check: 1 goroutine\\(s\\) leaked:$"));
  EXPECT_TRUE(said_like(ended.err, "\"reader\" \\[chan receive\\]: made at .*\\+0x"));
}

TEST(testing_death, a_bubble_that_sleeps_with_a_mutex_is_a_deadlock_of_all) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("bubble_sleeps_with_a_mutex");
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_TRUE(said_like(ended.err, "\\[sync.Mutex.Lock\\]:$"));
  EXPECT_TRUE(said_like(ended.err, "\\[sleep\\]:$"));
}

}  // namespace
}  // namespace weft::test
