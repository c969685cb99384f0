// life_test.cpp: the contract around the runtime: run again, abandon, exit, fork, exec.
#include <cstdio>
#include <string>

#include "death.hpp"

namespace weft::test {
namespace {

// Scenarios that check themselves and must survive in silence.
class survives : public testing::TestWithParam<const char*> {};

TEST_P(survives, and_meets_all_requirements) {
  const child_end ended = scenario(GetParam(), {}, 8s);
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(ended.out, "");
}

const auto name_of = [](const auto& name) { return std::string(name.param); };

INSTANTIATE_TEST_SUITE_P(
    run, survives,
    testing::Values("run_inside_run", "run_in_two_threads", "run_100_times",
                    "run_returns_while_others_compute", "run_returns_while_others_block",
                    "abandoned_goroutine_starts_others", "abandoned_goroutine_resizes",
                    "abandoned_goroutine_meets_the_next_run", "waiters_of_the_last_run_are_skipped",
                    "foreign_threads_come_and_go", "system_from_many_goroutines"),
    name_of);

TEST(run, returns_what_main_returned) { EXPECT_TRUE(exited(scenario("run_returns_code"), 7)); }

TEST(run, go_outside_throws_not_running) {
  const child_end ended = scenario("go_outside_run");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_TRUE(said(ended.out, "weft::go: no runtime is active"));
}

TEST(abandoned_goroutine, never_returns_from_its_next_call) {
  const child_end ended = scenario("abandoned_goroutine_never_returns");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_FALSE(said(ended.out, "destroyed"));
}

// --- exit ---

TEST(process_exit, static_objects_may_use_weft_after_run) {
  for (const char* name :
       {"exit_after_run_with_static_user", "exit_after_run_that_left_goroutines"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    EXPECT_TRUE(exited(ended, 0));
    EXPECT_EQ(ended.out, "at exit: active=0 refused=1\n");
    EXPECT_EQ(ended.err, "");
  }
}

TEST(process_exit, in_the_midst_of_goroutines_is_clean) {
  for (const char* name : {"exit_in_main_goroutine", "exit_in_goroutine",
                           "exit_in_goroutine_on_one_p", "exit_on_foreign_thread"}) {
    SCOPED_TRACE(name);
    for (int i = 0; i < 3; ++i) {
      const child_end ended = scenario(name);
      EXPECT_TRUE(exited(ended, 7));
      EXPECT_EQ(ended.out, "at exit: active=1 refused=0\n");
      EXPECT_EQ(ended.err, "");
    }
  }
}

TEST(process_exit, from_odd_places_is_clean) {
  for (const char* name : {"exit_inside_blocking", "exit_with_a_static_runtime",
                           "exit_in_goroutine_with_a_static_runtime", "quick_exit_in_goroutine"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    EXPECT_TRUE(exited(ended, 7));
    EXPECT_EQ(ended.err, "");
  }
}

// --- fork ---

TEST(fork, child_may_exec_or_quit) {
  const child_end execs = scenario("fork_exec");
  EXPECT_TRUE(exited(execs, 0));
  EXPECT_EQ(execs.out, "child exited with 5\n");
  const child_end quits = scenario("fork_quits");
  EXPECT_TRUE(exited(quits, 0));
  EXPECT_EQ(quits.out, "child exited with 6\n");
}

class fork_child : public testing::TestWithParam<const char*> {};

TEST_P(fork_child, that_calls_weft_is_told_why_not) {
  const child_end ended = scenario(GetParam());
  EXPECT_TRUE(exited(ended, 0)) << "the parent is not harmed";
  EXPECT_EQ(ended.out, "child exited with 2\n");
  EXPECT_TRUE(
      said_like(ended.err, "^fatal error: weft: called in the child of a fork;.*exec or _exit"));
  EXPECT_EQ(count_of(ended.err, "\n"), 1) << "one line";
}

INSTANTIATE_TEST_SUITE_P(fork, fork_child,
                         testing::Values("fork_go", "fork_spawn", "fork_yield", "fork_event_set",
                                         "fork_event_wait", "fork_wait_group", "fork_blocking",
                                         "fork_max_procs", "fork_run",
                                         "fork_returns_from_goroutine", "fork_foreign_go",
                                         "fork_foreign_wait", "fork_foreign_max_procs"),
                         name_of);

// Not what the contract allows, but what people do. The child ends, by itself or with the message; it does not hang on threads
// that it does not have. Often, since it depends on what those were doing.
TEST(fork_race, child_that_ends_the_runtime_does_not_hang) {
  for (int i = 0; i < 8 && !HasFailure(); ++i) {
    const child_end deletes = scenario("fork_foreign_ends_the_runtime", {}, 3s);
    EXPECT_TRUE(exited(deletes, 0));
    EXPECT_TRUE(said_like(deletes.out, "^child exited with (2|90)$"));
    const child_end exits = scenario("fork_foreign_exit", {}, 3s);
    EXPECT_TRUE(exited(exits, 0));
    EXPECT_TRUE(said_like(exits.out, "^child exited with (2|6)$"));
  }
}

TEST(fork, before_and_after_a_runtime_is_free) {
  for (const char* name : {"fork_before_run", "fork_after_run"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    EXPECT_TRUE(exited(ended, 0));
    EXPECT_EQ(ended.out, "child exited with 6\n");
    EXPECT_EQ(ended.err, "");
  }
}

// Signals 32 and 33 are the C library's own. Whoever started us may have left them ignored, and the first thread that
// anybody makes changes that, with or without weft.
std::string without_the_librarys_own(std::string line) {
  constexpr unsigned long long kOwn = 0x1'8000'0000;
  const std::string label = "SigIgn:\t";
  const std::size_t at = line.find(label);
  if (at == std::string::npos) return line;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                std::stoull(line.substr(at + label.size(), 16), nullptr, 16) & ~kOwn);
  return line.replace(at + label.size(), 16, digits);
}

TEST(exec, children_get_the_original_signal_mask_and_dispositions) {
  const child_end ended = scenario("children_get_the_original_mask");
  EXPECT_TRUE(exited(ended, 0));
  const auto answer = [&](const std::string& who) {
    return without_the_librarys_own(find_like(ended.out, "^" + who + ": (.*)$"));
  };
  for (const char* how : {"system", "spawn", "exec"}) {
    SCOPED_TRACE(how);
    EXPECT_TRUE(said_like(answer(std::string("before ") + how), "SigBlk:.0000000000000200"))
        << "what the program set";
    EXPECT_EQ(answer(std::string("in ") + how), answer(std::string("before ") + how));
  }
  for (const char* who : {"locked system", "blocking system", "after system", "main system"}) {
    EXPECT_EQ(answer(who), answer("before system")) << who;
  }
}

}  // namespace
}  // namespace weft::test
