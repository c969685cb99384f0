// unloading_test.cpp: dlclose() of what holds weft leaves nothing in the process that points nowhere.
#include "platform/tool.hpp"

namespace {

using namespace weft::test;

class unloading : public testing::TestWithParam<const char*> {
 protected:
  static child_end unload(std::vector<std::string> more = {}) {
    auto command = platform_program("unloader");
    command.push_back(std::string(WEFT_PLATFORM_PROGRAMS) + "/platform_plugin_" + GetParam() +
                      ".so");
    command.insert(command.end(), more.begin(), more.end());
    return run_child({.command = command, .environment = {{"WEFT_DEBUG", ""}}});
  }
};

TEST_P(unloading, a_plugin_leaves_handlers_that_work) {
  const auto ended = unload();
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_TRUE(said(ended.out, "ok"));
}

TEST_P(unloading, a_fault_afterwards_is_that_fault) {
  const auto ended = unload({"segv"});
  EXPECT_TRUE(died_of(ended, SIGSEGV));
  EXPECT_TRUE(said(ended.out, "ok"));
}

INSTANTIATE_TEST_SUITE_P(, unloading, testing::Values("static", "shared"),
                         [](const auto& info) { return std::string("weft_is_") + info.param; });

TEST(platform_library, asks_never_to_be_unloaded) {
  NEEDS_TOOL(WEFT_READELF);
  const auto ended = run_child({.command = {WEFT_READELF, "-dW", WEFT_SHARED_LIBRARY}});
  EXPECT_TRUE(said(ended.out, "NODELETE"));
}

}  // namespace
