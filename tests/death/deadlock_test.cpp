// deadlock_test.cpp: when all goroutines are asleep for good the program says so and who they are; while anyone can still be
// woken it does not.
#include "death.hpp"

#include <sstream>

namespace weft::test {
namespace {

constexpr const char* kAllAsleep = "fatal error: all goroutines are asleep - deadlock!\n";
constexpr const char* kNoneLeft = "fatal error: no goroutines (main called Goexit) - deadlock!\n";

void expect_report(const child_end& ended, const std::string& first_line) {
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_EQ(ended.err.substr(0, first_line.size()), first_line);
  EXPECT_EQ(count_of(ended.err, "fatal error"), 1);
}

TEST(deadlock, is_reported_with_exit_code_2) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_simple");
  expect_report(ended, kAllAsleep);
  EXPECT_TRUE(said_like(ended.err, "^goroutine 1 \\[event wait\\]:$"));
  EXPECT_LT(ended.took, 3s * time_scale());
}

TEST(deadlock, says_who_waits_at_which_kind_of_channel) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_at_channels");
  expect_report(ended, kAllAsleep);
  EXPECT_TRUE(said_like(ended.err, "^goroutine 1 \\[chan receive\\]:$"));
  for (const char* line :
       {"\"receives\" \\[chan receive\\]:$", "\"sends\" \\[chan send\\]:$",
        "\"receives nothing\" \\[chan receive \\(nil chan\\)\\]:$",
        "\"sends nowhere\" \\[chan send \\(nil chan\\)\\]:$", "\"chooses\" \\[select\\]:$",
        "\"has one choice\" \\[chan receive\\]:$", "\"chooses two\" \\[select\\]:$",
        "\"has no choice\" \\[select \\(no cases\\)\\]:$"}) {
    EXPECT_TRUE(said_like(ended.err, line)) << line << " in\n" << ended.err;
  }
}

TEST(deadlock, is_not_reported_while_a_timer_can_end_it) {
  const child_end ended = scenario("no_deadlock_while_a_timer_runs");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "it came\n");
}

TEST(deadlock, is_reported_when_main_is_locked_to_its_thread) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  for (const char* name : {"deadlock_locked_main", "deadlock_main_locks_itself"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    expect_report(ended, kAllAsleep);
    EXPECT_TRUE(said_like(ended.err, "^goroutine 1 \\[event wait\\]:$"));
    EXPECT_TRUE(said(ended.err, "locked to its thread"));
  }
}

TEST(deadlock, is_reported_when_another_goroutine_is_locked) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_locked_goroutine");
  expect_report(ended, kAllAsleep);
  EXPECT_TRUE(said_like(ended.err, "^goroutine [0-9]+ \"tied\" \\[event wait\\]:$"));
  EXPECT_TRUE(said(ended.err, "locked to its thread"));
}

TEST(deadlock, is_reported_for_a_join_that_never_ends) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_join");
  expect_report(ended, kAllAsleep);
  EXPECT_TRUE(said_like(ended.err, "^goroutine [0-9]+ \"child\" \\[event wait\\]:$"));
}

// The block of the dump that belongs to one goroutine: its head and the line after it.
std::string block_of(const std::string& dump, const std::string& id) {
  const std::size_t at = ("\n" + dump).find("\ngoroutine " + id + " ");
  if (at == std::string::npos) return {};
  return dump.substr(at, dump.find("\n\n", at) - at);
}

TEST(deadlock, dump_tells_id_name_reason_and_origin_of_every_goroutine) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  SKIP_WITHOUT_ADDR2LINE();
  const child_end ended = scenario("deadlock_dump");
  expect_report(ended, kAllAsleep);
  EXPECT_EQ(count_of("\n" + ended.err, "\ngoroutine "), 6) << ended.err;
  EXPECT_TRUE(said_like(ended.err, "^goroutine 1 \"the first\" \\[join\\]:$"));

  int ntold = 0;
  std::istringstream told(ended.out);
  for (std::string line; std::getline(told, line); ++ntold) {
    const std::string id = find_like(line, "id=([0-9]+)");
    const std::string name = find_like(line, "name=(.*)$");
    const std::string block = block_of(ended.err, id);
    SCOPED_TRACE(line + "\n" + block);
    ASSERT_FALSE(block.empty()) << ended.err;
    if (name.empty()) {
      EXPECT_TRUE(said_like(block, "^goroutine " + id + " \\["));
    } else {
      EXPECT_TRUE(said_like(block, "^goroutine " + id + " \"" + name + "\" \\["));
    }
    EXPECT_TRUE(said(block, name == "writer" ? "[wait_group wait]" : "[event wait]"));
    EXPECT_TRUE(said_like(block, "by goroutine " + find_like(line, "by=([0-9]+)") + "(,|$)"));
    EXPECT_TRUE(said_like(block, "waits on 0x[0-9a-f]+"));
    const std::string origin = find_like(block, "made at (death_scenarios\\+0x[0-9a-f]+)");
    ASSERT_FALSE(origin.empty());
    // A statement may begin on the line before the call: unoptimised builds name that one.
    const std::string at = find_like(line, "line=([0-9]+)");
    const std::string before = std::to_string(std::stoi(at) - 1);
    EXPECT_TRUE(said_like(meaning_of(origin), "deadlock\\.cpp:(" + at + "|" + before + ")"));
  }
  EXPECT_EQ(ntold, 4);
}

#ifdef WEFT_DEATH_FIXED_ADDRESS
TEST(deadlock, origin_is_right_in_a_program_at_a_fixed_address) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  SKIP_WITHOUT_ADDR2LINE();
  const child_end ended = run_child({.command = {WEFT_DEATH_FIXED_ADDRESS}});
  expect_report(ended, kAllAsleep);
  const std::string offset = find_like(ended.err, "made at death_fixed_address\\+(0x[0-9a-f]+)");
  const child_end answer =
      run_child({.command = {"addr2line", "-i", "-e", WEFT_DEATH_FIXED_ADDRESS, offset}});
  EXPECT_TRUE(said_like(answer.out, "fixed_address\\.cpp:" + find_like(ended.out, "line=([0-9]+)")))
      << ended.err;
}
#endif

TEST(deadlock, dump_of_a_thousand_is_complete) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_many");
  expect_report(ended, kAllAsleep);
  EXPECT_EQ(count_of("\n" + ended.err, "\ngoroutine "), 1001);
  EXPECT_EQ(count_of(ended.err, "[event wait]:"), 1001);
}

TEST(deadlock, dump_survives_a_very_long_name) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_with_a_very_long_name");
  expect_report(ended, kAllAsleep);
  EXPECT_EQ(count_of(ended.err, "[event wait]:\n"), 2) << ended.err;
  EXPECT_EQ(count_of(ended.err, "made at "), 1) << ended.err;
}

TEST(deadlock, is_reported_in_a_second_run_without_stories_of_the_first) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_in_the_second_run");
  expect_report(ended, kAllAsleep);
  EXPECT_EQ(count_of("\n" + ended.err, "\ngoroutine "), 1) << ended.err;
  EXPECT_FALSE(said(ended.err, "made at")) << "nobody made the main goroutine";
}

TEST(deadlock, is_reported_after_threads_were_needed_for_blocking_calls) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  for (const char* name : {"deadlock_after_a_blocking_call", "deadlock_after_many_threads"}) {
    SCOPED_TRACE(name);
    expect_report(scenario(name, {}, 9s), kAllAsleep);
  }
}

TEST(deadlock, of_a_runtime_object_counts_the_thread_that_waits) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_of_a_runtime_object");
  expect_report(ended, kAllAsleep);
  EXPECT_TRUE(said_like(ended.err, "^goroutine [0-9]+ \"sleeper\" \\[event wait\\]:$"));
  EXPECT_TRUE(said_like(ended.err, "^thread [0-9]+ \\[event wait\\]:$"));
}

TEST(deadlock, of_a_runtime_object_does_not_speak_of_main) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_of_a_runtime_object_whose_first_goroutine_exited");
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_FALSE(said(ended.err, "main called Goexit"));
}

TEST(deadlock, is_found_when_a_foreign_thread_parks_last) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_foreign_thread_parks_last");
  expect_report(ended, kAllAsleep);
  EXPECT_TRUE(said_like(ended.err, "^thread [0-9]+ \\[event wait\\]:$"));
}

TEST(deadlock, is_found_when_the_last_foreign_thread_ends) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  expect_report(scenario("deadlock_foreign_thread_ends_last"), kAllAsleep);
}

TEST(deadlock, calls_the_hook_once_with_the_message) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("deadlock_hook");
  expect_report(ended, kAllAsleep);
  EXPECT_EQ(ended.out, "hook: fatal error: all goroutines are asleep - deadlock!\n");
  EXPECT_EQ(ended.out, "hook: " + first_line(ended.err));
}

TEST(deadlock, can_be_ignored) {
  EXPECT_TRUE(timed_out(scenario("deadlock_simple", {{"WEFT_DEBUG", "deadlock=0"}}, 700ms)));
}

TEST(deadlock, holds_under_forced_migration) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  for (const char* name :
       {"deadlock_simple", "deadlock_locked_main", "deadlock_locked_goroutine", "deadlock_dump"}) {
    SCOPED_TRACE(name);
    expect_report(scenario(name, {{"WEFT_DEBUG", "migrate=1"}}), kAllAsleep);
  }
}

// --- main called exit_goroutine() ---

TEST(deadlock, after_main_exited_alone_has_its_own_message) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("exit_main_alone");
  expect_report(ended, kNoneLeft);
  EXPECT_EQ(ended.out, "");
}

TEST(deadlock, after_main_exited_names_those_that_are_left) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("exit_main_others_asleep");
  expect_report(ended, kAllAsleep);
  EXPECT_TRUE(said(ended.err, "\"left\" [event wait]"));
  EXPECT_EQ(ended.out, "");
}

TEST(deadlock, comes_only_after_the_others_have_ended) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("exit_main_others_work_on");
  expect_report(ended, kNoneLeft);
  EXPECT_EQ(ended.out, "worked on\n");
}

TEST(deadlock, after_a_locked_main_exited_is_the_same) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario("exit_main_locked");
  expect_report(ended, kNoneLeft);
  EXPECT_EQ(ended.out, "worked on\n");
}

// --- no false alarm ---

class no_false_alarm : public testing::TestWithParam<const char*> {};

TEST_P(no_false_alarm, while_someone_can_still_wake) {
  const child_end ended = scenario(GetParam());
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.err, "");
}

INSTANTIATE_TEST_SUITE_P(
    deadlock, no_false_alarm,
    testing::Values("alive_foreign_thread_wakes_later",
                    "alive_foreign_thread_starts_a_goroutine_later",
                    "alive_blocking_wakes_later_on_one_p", "alive_blocking_wakes_later_on_two_ps",
                    "alive_set_from_inside_blocking", "alive_unannotated_sleep",
                    "alive_detached_while_it_computes", "alive_runtime_object_with_a_busy_owner",
                    "alive_locked_main_woken_by_foreign_thread"),
    [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace weft::test
