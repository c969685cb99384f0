// programs_test.cpp: runs the programs that were built in unusual ways.
#include "platform/tool.hpp"

namespace {

using namespace weft::test;

class platform_user : public testing::TestWithParam<std::string> {};

TEST_P(platform_user, works) {
  for (const char* debug : {"", "migrate=1"}) {
    const auto ended = run_child(
        {.command = platform_program(GetParam()), .environment = {{"WEFT_DEBUG", debug}}});
    if (ended.exit_code == 77) GTEST_SKIP() << "this CPU does not have the instructions";
    EXPECT_TRUE(exited(ended, 0)) << debug;
    EXPECT_TRUE(said(ended.out, "ok"));
  }
}

INSTANTIATE_TEST_SUITE_P(, platform_user, testing::ValuesIn(words_of(WEFT_PLATFORM_WAYS)),
                         [](const auto& info) { return "built_" + info.param; });

// All of it in one program twice would be two schedulers that know nothing of each other.
TEST(platform_shared_objects, that_both_use_weft_share_one_runtime) {
  const auto ended = run_child({.command = platform_program("two_parts")});
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_TRUE(said(ended.out, "103 111"));
}

}  // namespace
