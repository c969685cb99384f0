// tools_test.cpp: gdb finds the end of a goroutine's stack; Valgrind finds nothing at all.
#include "platform/tool.hpp"

namespace {

using namespace weft::test;

void expect_clean_backtrace(const std::string& way) {
  NEEDS_TOOL("gdb");
  if (is_emulated()) GTEST_SKIP() << "gdb cannot debug a program inside the emulator this way";
  const auto ended =
      run_child({.command = {"gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex",
                             "set width 0", "-ex", "break stop_here", "-ex", "run", "-ex", "bt",
                             "-ex", "kill", "--args", platform_program(way).back(), "stop"},
                 .limit = std::chrono::seconds(40)});
  if (ended.err.find("ptrace") != std::string::npos ||
      ended.err.find("personality") != std::string::npos) {
    GTEST_SKIP() << "this system does not let gdb trace: " << ended.err;
  }
  EXPECT_TRUE(exited(ended, 0));
  std::vector<std::string> frames;
  for (const std::string& line : lines_of(ended.out)) {
    if (line.rfind('#', 0) == 0) frames.push_back(line);
  }
  ASSERT_GT(frames.size(), 5u) << ended.out << ended.err;
  EXPECT_LT(frames.size(), 40u) << ended.out;
  EXPECT_TRUE(said(frames[0], "stop_here"));
  EXPECT_TRUE(said(frames[4], "go_down"));
  EXPECT_TRUE(said(frames.back(), "weft_context_entry"));
  EXPECT_EQ(count_of(ended.out, "weft_context_entry"), 1) << ended.out;
  EXPECT_EQ(count_of(ended.out, " ?? "), 0) << ended.out;
  EXPECT_EQ(count_of(ended.out + ended.err, "corrupt stack"), 0) << ended.out;
}

TEST(platform_gdb, backtrace_of_a_goroutine_ends_at_its_entry) { expect_clean_backtrace("plain"); }
TEST(platform_gdb, backtrace_of_an_unoptimised_goroutine_ends_at_its_entry) {
  expect_clean_backtrace("unoptimised");
}
TEST(platform_gdb, backtrace_of_a_static_program_ends_at_its_entry) {
  if (std::string(WEFT_PLATFORM_WAYS).find("static_pie") == std::string::npos)
    GTEST_SKIP() << "no static libraries here";
  expect_clean_backtrace("static_pie");
}

TEST(platform_valgrind, memcheck_finds_nothing) {
  NEEDS_TOOL("valgrind");
  if (is_emulated()) GTEST_SKIP() << "Valgrind cannot run inside the emulator";
#if !defined(WEFT_HAVE_VALGRIND)
  GTEST_SKIP() << "weft was built without Valgrind's headers and does not tell it about stacks";
#endif
  auto command =
      std::vector<std::string>{"valgrind", "--error-exitcode=9", "--leak-check=full",
                               "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"};
  command.push_back(platform_program("plain").back());
  const auto ended = run_child({.command = command, .limit = std::chrono::seconds(50)});
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_TRUE(said(ended.out, "ok"));
  EXPECT_TRUE(said(ended.err, "ERROR SUMMARY: 0 errors from 0 contexts"));
  // "client switching stacks?": it was not told about one
  EXPECT_EQ(count_of(ended.err, "switching stacks"), 0) << ended.err;
}

}  // namespace
