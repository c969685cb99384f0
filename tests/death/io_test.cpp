// io_test.cpp: what signals do when nobody listens to them any more.
#include <string>

#include "death.hpp"

namespace weft::test {
namespace {

class deadly : public testing::TestWithParam<const char*> {};

TEST_P(deadly, as_before) { EXPECT_TRUE(died_of(scenario(GetParam()), SIGTERM)); }

INSTANTIATE_TEST_SUITE_P(io_signals, deadly,
                         testing::Values("signal_after_the_last_channel_is_gone",
                                         "signal_after_stop", "signal_beside_the_stop",
                                         "signal_after_the_run", "signal_of_a_former_run"),
                         [](const auto& name) { return std::string(name.param); });

TEST(io_signals, a_deadlock_is_told_again_when_nobody_listens) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_after_signals");
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_TRUE(said(ended.err, "all goroutines are asleep - deadlock!"));
}

TEST(io_signals, no_deadlock_is_told_while_somebody_listens) {
  EXPECT_TRUE(exited(scenario("no_deadlock_while_somebody_listens"), 0));
}

}  // namespace
}  // namespace weft::test
