// stacks_test.cpp: a stack that overflows is reported by name, never corrupts anything, and nothing else is taken for it.
#include "death.hpp"

namespace weft::test {
namespace {

unsigned long limit_of(const child_end& ended) {
  const std::string bytes = find_like(ended.err, "stack exceeds ([0-9]+)-byte limit");
  return bytes.empty() ? 0 : std::stoul(bytes);
}

// The whole report: who, how large, where, and by SIGABRT.
void expect_overflow(const child_end& ended, const std::string& who, unsigned long at_least,
                     unsigned long at_most) {
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said_like(ended.err, "goroutine [0-9]+ .*stack exceeds [0-9]+-byte limit"));
  EXPECT_TRUE(said_like(ended.err, "^goroutine " + who + " \\[running\\]:$"));
  EXPECT_GE(limit_of(ended), at_least);
  EXPECT_LE(limit_of(ended), at_most * (kIsAsan || kIsTsan ? 16 : 1));
  const int nframes = count_of(ended.err, "\t#");
  EXPECT_GE(nframes, 2) << ended.err;
  EXPECT_LE(nframes, 200) << "bounded, however deep";
  EXPECT_EQ(count_of(ended.err, "stack exceeds"), 1);
}

TEST(stack_overflow, of_a_goroutine_is_reported) {
  expect_overflow(scenario("overflow_default"), "[0-9]+ \"deep\"", 128 << 10, 512 << 10);
}

TEST(stack_overflow, first_line_has_the_promised_form) {
  EXPECT_TRUE(
      said_like(scenario("overflow_default").err,
                "^fatal error: goroutine [0-9]+ (\"deep\" )?stack exceeds [0-9]+-byte limit"));
}

TEST(stack_overflow, backtrace_shows_the_recursion) {
  SKIP_WITHOUT_ADDR2LINE();
  const child_end ended = scenario("overflow_default");
  EXPECT_GT(count_of(meaning_of_backtrace(ended.err), "recurse_for_ever"), 10) << ended.err;
}

TEST(stack_overflow, of_a_small_stack_is_reported) {
  expect_overflow(scenario("overflow_small"), "[0-9]+ \"deep\"", 15 << 10, 64 << 10);
}

// ThreadSanitizer keeps a stack of calls of its own, which is full after 65,536.
#define SKIP_DEEP_RECURSION_UNDER_TSAN() \
  if (kIsTsan) GTEST_SKIP() << "ThreadSanitizer's own stack overflows first"

TEST(stack_overflow, of_a_large_stack_is_reported) {
  SKIP_DEEP_RECURSION_UNDER_TSAN();
  expect_overflow(scenario("overflow_large"), "[0-9]+ \"deep\"", 8 << 20, 16 << 20);
  expect_overflow(scenario("overflow_large_by_options"), "[0-9]+ \"deep\"", 2 << 20, 4 << 20);
}

TEST(stack_overflow, of_main_is_reported) {
  SKIP_DEEP_RECURSION_UNDER_TSAN();
  expect_overflow(scenario("overflow_main"), "1", 256 << 10, 512 << 10);
  expect_overflow(scenario("overflow_main_default"), "1", 8 << 20, 16 << 20);
  expect_overflow(scenario("overflow_locked_main"), "1", 8 << 20, 16 << 20);
}

TEST(stack_overflow, inside_blocking_is_reported) {
  expect_overflow(scenario("overflow_inside_blocking"), "[0-9]+ \"deep\"", 128 << 10, 512 << 10);
}

TEST(stack_overflow, with_guards_by_mprotect_is_reported) {
  const environment env = {{"WEFT_DEBUG", "guard=mprotect"}};
  EXPECT_EQ(scenario("guard_mode", env).out, "mprotect\n") << "the key is obeyed";
  expect_overflow(scenario("overflow_default", env), "[0-9]+ \"deep\"", 128 << 10, 512 << 10);
}

TEST(stack_overflow, calls_the_hook) {
  const child_end ended = scenario("overflow_hook");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_EQ(ended.out, "hook: " + first_line(ended.err));
  EXPECT_TRUE(said_like(ended.out, "^hook: fatal error: goroutine [0-9]+ stack exceeds"));
}

TEST(stack_overflow, is_not_passed_to_a_handler_of_the_users) {
  const child_end ended = scenario("overflow_with_a_handler_of_the_users");
  expect_overflow(ended, "[0-9]+ \"deep\"", 128 << 10, 512 << 10);
  EXPECT_EQ(ended.out, "");
}

TEST(stack_overflow_race, two_at_once_give_one_report) {
  for (int i = 0; i < 5; ++i) {
    expect_overflow(scenario("overflow_two_at_once"), "[0-9]+ \"deep\"", 128 << 10, 512 << 10);
    if (HasFailure()) break;
  }
}

TEST(stack_overflow, by_one_large_frame_cannot_jump_the_guard) {
  if (kIsAsan || kIsTsan) GTEST_SKIP() << "frames and stacks have another size there";
  for (const char* name : {"large_frame_70k", "large_frame_256k", "large_frame_1m"}) {
    SCOPED_TRACE(name);
    expect_overflow(scenario(name), "[0-9]+ \"deep\"", 15 << 10, 64 << 10);
  }
}

// --- sizes ---

TEST(stack_size, is_that_of_this_run_and_not_of_the_first) {
  EXPECT_TRUE(exited(scenario("stack_size_of_the_second_run"), 0));
}

TEST(stack_size, of_an_earlier_run_is_not_the_default_of_the_next) {
  EXPECT_TRUE(exited(scenario("stack_size_of_an_earlier_run"), 0));
}

TEST(stack_size, zero_is_the_default) {
  EXPECT_TRUE(exited(scenario("stack_size_zero_is_the_default"), 0));
}

TEST(stack_size, one_byte_is_rounded_up_to_something_that_works) {
  EXPECT_TRUE(exited(scenario("stack_size_one_is_rounded_up"), 0));
}

// --- other faults ---

void expect_plain_fault(const child_end& ended) {
  EXPECT_TRUE(died_of(ended, SIGSEGV));
  EXPECT_FALSE(said(ended.err, "overflow"));
  EXPECT_FALSE(said(ended.err, "exceeds"));
}

TEST(fault, through_a_null_pointer_dies_of_sigsegv) {
  expect_plain_fault(scenario("fault_null"));
  expect_plain_fault(scenario("fault_null_in_main"));
  expect_plain_fault(scenario("fault_wild"));
}

// Sanitizers take faults before weft, and then they are theirs.
#define SKIP_WHERE_FAULTS_ARE_TAKEN() \
  if (kIsAsan || kIsTsan) GTEST_SKIP() << "the sanitizer was there first"

TEST(fault, that_nobody_takes_names_the_goroutine_before_it_dies_of_it) {
  SKIP_WHERE_FAULTS_ARE_TAKEN();
  const child_end ended = scenario("fault_null");
  expect_plain_fault(ended);
  EXPECT_TRUE(
      said_like(ended.err,
                "^fatal error: SIGSEGV at address 0x0 \\(pc death_scenarios\\+0x[0-9a-f]+\\) "
                "in goroutine [0-9]+ \"culprit\"$"));
  EXPECT_TRUE(said_like(ended.err, "^goroutine [0-9]+ \"culprit\" \\[running\\]:$"));
  EXPECT_EQ(count_of(ended.err, "[running]"), 1);
  EXPECT_TRUE(said_like(ended.err, "^made at death_scenarios\\+0x"));
  EXPECT_GE(count_of(ended.err, "\t#"), 2);
  EXPECT_TRUE(said_like(scenario("fault_null_in_main").err, "^goroutine 1 \\[running\\]:$"));
}

TEST(fault, that_nobody_takes_shows_where_it_was) {
  SKIP_WHERE_FAULTS_ARE_TAKEN();
  SKIP_WITHOUT_ADDR2LINE();
  EXPECT_TRUE(said(meaning_of_backtrace(scenario("fault_null").err), "touch_null"));
}

TEST(fault, that_nobody_takes_calls_the_hook_once) {
  SKIP_WHERE_FAULTS_ARE_TAKEN();
  const child_end ended = scenario("fault_hook");
  expect_plain_fault(ended);
  EXPECT_EQ(ended.out, "hook: " + first_line(ended.err));
}

TEST(fault, inside_the_report_of_another_ends_the_process_of_the_same_signal) {
  SKIP_WHERE_FAULTS_ARE_TAKEN();
  for (const char* name : {"fault_hook_that_faults", "fault_jump_to_nowhere"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    expect_plain_fault(ended);
    EXPECT_TRUE(said_like(ended.err, "^fatal error: SIGSEGV .* \"culprit\"$"));
    EXPECT_EQ(count_of(ended.err, "fatal error"), 1);
  }
}

TEST(fault_race, two_at_once_give_one_report) {
  SKIP_WHERE_FAULTS_ARE_TAKEN();
  for (int i = 0; i < 5 && !HasFailure(); ++i) {
    const child_end ended = scenario("fault_two_at_once");
    expect_plain_fault(ended);
    EXPECT_EQ(count_of(ended.err, "fatal error"), 1);
    EXPECT_EQ(count_of(ended.err, "[running]"), 1);
    EXPECT_TRUE(said_like(ended.err, "^made at death_scenarios\\+0x")) << "whole";
  }
}

TEST(fault, that_is_not_of_wefts_threads_is_left_alone) {
  for (const char* name : {"fault_on_a_plain_thread", "signal_segv_sent"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    expect_plain_fault(ended);
    EXPECT_FALSE(said(ended.err, "goroutine"));
  }
}

TEST(fault, of_a_foreign_threads_own_stack_is_not_ours) {
  expect_plain_fault(scenario("fault_overflow_of_a_foreign_thread"));
}

TEST(fault, in_the_guard_of_another_goroutine_does_not_blame_the_wrong_stack) {
  if (kIsAsan || kIsTsan) GTEST_SKIP() << "stacks have another size there";
  const child_end ended = scenario("fault_in_the_guard_of_another");
  EXPECT_NE(ended.signal, 0);
  EXPECT_FALSE(said_like(ended.err, "^goroutine [0-9]+ \"culprit\" \\[running\\]:$") &&
               said(ended.err, "larger stack helps"));
}

TEST(fault, goes_to_the_handler_that_was_there_before) {
  for (const char* name : {"fault_with_siginfo_handler", "fault_with_plain_handler"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    EXPECT_TRUE(exited(ended, 42));
    EXPECT_EQ(ended.out, "user's handler\n");
    EXPECT_EQ(ended.err, "") << "and to nobody else";
  }
}

TEST(fault, that_was_sent_by_kill_dies_of_sigsegv) {
  expect_plain_fault(scenario("signal_segv_sent"));
}

// --- signals ---

TEST(signals, abort_dies_of_sigabrt) { EXPECT_TRUE(died_of(scenario("signal_abort"), SIGABRT)); }

TEST(signals, a_program_that_is_killed_reports_that_signal) {
  EXPECT_TRUE(died_of(scenario("signal_term"), SIGTERM));
  EXPECT_TRUE(died_of(scenario("signal_term_sent_to_an_idle_program"), SIGTERM));
}

}  // namespace
}  // namespace weft::test
