// internal_test.cpp: the runtime's own checks notice what they are there for.
#include "base/check.hpp"
#include "death.hpp"

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

}  // namespace
}  // namespace weft::test
