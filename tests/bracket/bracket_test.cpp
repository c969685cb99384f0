// bracket_test.cpp: runs bracket_program (program.cpp), first where it must be content, then where it must complain.
#include <csignal>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "support/child_process.hpp"

namespace {

using namespace std::chrono_literals;
using weft::test::child_end;
using weft::test::died_of;
using weft::test::exited;
using weft::test::said;

child_end run_program(std::vector<std::string> arguments, std::string debug = "") {
  auto command = weft::test::words_of(WEFT_TEST_EMULATOR);
  command.emplace_back(WEFT_BRACKET_PROGRAM);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return weft::test::run_child({.command = command,
                                .environment = {{"WEFT_DEBUG", debug}, {"BRACKET_KEEP_GOING", ""}},
                                .limit = 50s});
}

// --- no scenario breaks the bracket ---

class bracket_holds
    : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(bracket_holds, everywhere) {
  const auto [scenario, procs, debug] = GetParam();
  const auto ended = run_program({"run", scenario, procs}, debug);
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_TRUE(said(ended.out, "none inside"));
}

std::string name_of(const testing::TestParamInfo<bracket_holds::ParamType>& info) {
  const auto [scenario, procs, debug] = info.param;
  std::string name = std::string(scenario) + "_with_procs_" + procs;
  if (*debug != '\0') name += std::string("_and_") + debug;
  for (char& c : name) {
    if (c == '=' || c == ',') c = '_';
  }
  return name;
}

constexpr const char* kScenarios[] = {
    "spawning",    "waiting",           "blocking_calls",  "locked_threads",  "resizing",
    "stack_sizes", "endings",           "foreign_threads", "running_again",   "overflowing",
    "stealing",    "stopped_by_signal", "borrowing",       "sleeping_untold", "timers"};

INSTANTIATE_TEST_SUITE_P(as_users_run_it, bracket_holds,
                         testing::Combine(testing::ValuesIn(kScenarios), testing::Values("1", "4"),
                                          testing::Values("")),
                         &name_of);
// Other paths: every switch through g0 and another thread; no membarrier; guards by mprotect.
INSTANTIATE_TEST_SUITE_P(in_other_modes, bracket_holds,
                         testing::Combine(testing::ValuesIn(kScenarios), testing::Values("2"),
                                          testing::Values("migrate=1",
                                                          "membarrier=0,guard=mprotect")),
                         &name_of);
INSTANTIATE_TEST_SUITE_P(for_ten_seconds, bracket_holds,
                         testing::Values(std::tuple{"idling", "0", ""}), &name_of);

// --- and the watch is awake ---

class bracket_watch : public testing::TestWithParam<const char*> {};

TEST_P(bracket_watch, notices) {
  const auto ended = run_program({"violate", GetParam()});
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said(ended.err, "bracket: "));
  EXPECT_TRUE(said(ended.err, "() was called "));
}

INSTANTIATE_TEST_SUITE_P(, bracket_watch,
                         testing::Values("malloc", "free", "calloc", "realloc", "new", "delete",
                                         "aligned_new", "mutex", "throw", "printf", "fwrite",
                                         "fputs", "dlopen", "dl_iterate_phdr", "local_static",
                                         "pthread_create", "pthread_getattr_np", "malloc_in_region",
                                         "malloc_under_lock", "mutex_under_lock"),
                         [](const auto& info) { return std::string(info.param); });

class bracket_watch_is_silent : public testing::TestWithParam<const char*> {};

TEST_P(bracket_watch_is_silent, outside) {
  EXPECT_TRUE(exited(run_program({"violate", GetParam()}), 0));
}

INSTANTIATE_TEST_SUITE_P(, bracket_watch_is_silent,
                         testing::Values("malloc_on_plain_thread", "mutex_on_plain_thread",
                                         "malloc_in_goroutine", "printf_in_goroutine",
                                         "mutex_in_goroutine"),
                         [](const auto& info) { return std::string(info.param); });

TEST(bracket_signal_handler, is_caught_allocating_where_it_stops_a_goroutine) {
  for (const auto& [where, words] :
       {std::pair{"before", "in a signal handler"}, std::pair{"inside", "inside the runtime"}}) {
    const auto ended = run_program({"sin", where});
    EXPECT_TRUE(died_of(ended, SIGABRT));
    EXPECT_TRUE(said(ended.err, std::string("bracket: malloc() was called ") + words));
  }
}

// The handler of a stack overflow allocates nothing and takes no lock: the goroutine may have held it.
TEST(bracket_signal_handler, reports_a_stack_overflow_without_a_foreign_lock) {
  const auto ended = run_program({"overflow"});
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said(ended.err, "weft: stack overflow"));
  EXPECT_EQ(weft::test::count_of(ended.err, "bracket: "), 0) << ended.err;
}

}  // namespace
