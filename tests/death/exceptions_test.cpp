// exceptions_test.cpp: an exception that leaves a goroutine ends the process with a report that names it; exit_goroutine() ends only
// the goroutine, or says who stood in its way.
#include "death.hpp"

namespace weft::test {
namespace {

// The report of one uncaught exception, whole and once.
void expect_panic(const child_end& ended, const std::string& first_line, const std::string& who) {
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said_like(ended.err, "^panic: uncaught exception " + first_line + "$"));
  EXPECT_TRUE(said_like(ended.err, "^goroutine " + who + " \\[running\\]:$"));
  EXPECT_TRUE(said_like(ended.err, "^made at death_scenarios\\+0x[0-9a-f]+ by goroutine [0-9]+$"));
  EXPECT_EQ(count_of(ended.err, "panic:"), 1);
}

TEST(uncaught_exception, is_reported_with_type_what_and_goroutine) {
  const child_end ended = scenario("throw_named");
  expect_panic(ended, "std::runtime_error: the reason", "[0-9]+ \"culprit\"");
  EXPECT_TRUE(said_like(ended.err, "^.#[0-9]+ death_scenarios\\+0x[0-9a-f]+$"));
}

TEST(uncaught_exception, backtrace_reaches_the_function_that_threw_and_ends_at_the_entry) {
  SKIP_WITHOUT_ADDR2LINE();
  const child_end ended = scenario("throw_named");
  const std::string frames = meaning_of_backtrace(ended.err);
  EXPECT_TRUE(said(frames, "function_that_throws"));
  EXPECT_TRUE(said(frames, "function_that_calls_it"));
  EXPECT_LT(frames.find("function_that_throws"), frames.find("function_that_calls_it"));
  EXPECT_LT(count_of(ended.err, "\t#"), 40) << ended.err;
}

TEST(uncaught_exception, in_a_goroutine_without_a_name_tells_where_it_was_made) {
  SKIP_WITHOUT_ADDR2LINE();
  const child_end ended = scenario("throw_unnamed");
  expect_panic(ended, "std::runtime_error: from nobody", "[0-9]+");
  const std::string origin = find_like(ended.err, "made at (death_scenarios\\+0x[0-9a-f]+)");
  EXPECT_TRUE(
      said_like(meaning_of(origin), "exceptions\\.cpp:" + find_like(ended.out, "line=([0-9]+)")));
}

TEST(uncaught_exception, of_a_type_without_what_is_named_by_its_type) {
  expect_panic(scenario("throw_int"), "int", "[0-9]+ \"culprit\"");
}

TEST(uncaught_exception, after_a_journey_over_threads_is_the_same) {
  expect_panic(scenario("throw_after_migration"), "std::runtime_error: after a journey",
               "[0-9]+ \"culprit\"");
  expect_panic(scenario("throw_after_migration", {{"WEFT_DEBUG", "migrate=1"}}),
               "std::runtime_error: after a journey", "[0-9]+ \"culprit\"");
  expect_panic(scenario("throw_on_a_locked_thread"), "std::runtime_error: tied",
               "[0-9]+ \"culprit\"");
}

TEST(uncaught_exception, from_a_handler_is_the_last_one_thrown) {
  expect_panic(scenario("throw_in_handler"), "std::logic_error: the second", "[0-9]+ \"culprit\"");
  expect_panic(scenario("throw_again"), "std::runtime_error: the first and only",
               "[0-9]+ \"culprit\"");
}

TEST(uncaught_exception, then_reaches_the_users_terminate_handler) {
  for (const char* name : {"throw_with_a_terminate_handler_from_before",
                           "throw_with_a_terminate_handler_from_inside"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    EXPECT_TRUE(exited(ended, 7));
    EXPECT_EQ(ended.out, "handler: seen by the handler\n");
    EXPECT_TRUE(
        said(ended.err, "panic: uncaught exception std::runtime_error: seen by the handler\n"));
    EXPECT_TRUE(said(ended.err, "\"culprit\" [running]"));
  }
}

TEST(uncaught_exception, aborts_when_the_terminate_handler_returns) {
  const child_end ended = scenario("throw_with_a_terminate_handler_that_returns");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_EQ(ended.out, "handler returns\n");
}

// what() is the user's own function and can do anything.

TEST(uncaught_exception, whose_what_throws_ends_the_process_all_the_same) {
  const child_end ended = scenario("throw_what_throws");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said(ended.err, "what_throws")) << "the type is known before what() is called";
  EXPECT_TRUE(said(ended.err, "\"culprit\""));
}

TEST(uncaught_exception, whose_what_yields_is_reported) {
  expect_panic(scenario("throw_what_yields"), ".*what_yields: said after yields",
               "[0-9]+ \"culprit\"");
}

TEST(uncaught_exception, whose_what_yields_to_another_that_throws_is_reported) {
  const child_end ended = scenario("throw_what_yields_to_another_that_throws");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_EQ(count_of(ended.err, "panic:"), 1);
  EXPECT_TRUE(said(ended.err, "what_yields"));
}

TEST(uncaught_exception, whose_what_blocks_is_reported) {
  expect_panic(scenario("throw_what_blocks"), ".*what_blocks: said after a sleep",
               "[0-9]+ \"culprit\"");
}

TEST(uncaught_exception, wins_over_the_deadlock_it_happens_in) {
  const child_end ended = scenario("throw_what_blocks_while_all_sleep");
  expect_panic(ended, ".*what_blocks: said after a sleep", "[0-9]+ \"culprit\"");
  EXPECT_FALSE(said(ended.err, "deadlock"));
}

TEST(uncaught_exception, whose_what_never_returns_does_not_hang_the_process) {
  SKIP_WITHOUT_DEADLOCK_REPORT();  // that is what ends it
  const child_end ended = scenario("throw_what_waits_for_ever");
  EXPECT_FALSE(timed_out(ended));
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_TRUE(said(ended.err, "what_waits"));
  EXPECT_TRUE(said(ended.err, "\"culprit\""));
}

TEST(uncaught_exception, whose_what_is_null_is_reported) {
  expect_panic(scenario("throw_what_is_null"), ".*what_is_null", "[0-9]+ \"culprit\"");
}

TEST(uncaught_exception, whose_what_is_long_still_names_the_goroutine) {
  const child_end ended = scenario("throw_what_is_long");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said_like(ended.err, "^panic: uncaught exception std::runtime_error: wwwwwwww"));
  EXPECT_TRUE(said_like(ended.err, "^goroutine [0-9]+ \"culprit\" \\[running\\]:$"));
}

TEST(uncaught_exception, near_the_end_of_the_stack_does_not_hang) {
  const child_end ended = scenario("throw_near_the_end_of_the_stack");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said(ended.err, "\"culprit\""));
}

TEST(uncaught_exception_race, two_at_once_give_one_whole_report) {
  for (int i = 0; i < 10; ++i) {
    const child_end ended = scenario("throw_two_at_once");
    expect_panic(ended, "std::runtime_error: both at once", "[0-9]+ \"(left|right)\"");
    EXPECT_EQ(count_of(ended.err, "[running]:"), 1);
    if (HasFailure()) break;
  }
}

TEST(uncaught_exception, that_meets_noexcept_ends_by_terminate_and_is_named) {
  const child_end ended = scenario("throw_through_noexcept");
  EXPECT_TRUE(died_of(ended, SIGABRT));
  EXPECT_TRUE(said(ended.err, "not allowed out"));
  EXPECT_TRUE(said(ended.err, "\"culprit\"")) << "the goroutine is named here too";
}

// --- exit_goroutine ---

TEST(exit_goroutine, runs_destructors_innermost_first) {
  const child_end ended = scenario("exit_runs_destructors");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "inner\nouter\n");
}

TEST(exit_goroutine, passes_a_catch_all_that_rethrows) {
  const child_end ended = scenario("exit_with_catch_all_that_rethrows");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "inner\ncaught\n");
}

void expect_misuse(const child_end& ended, const std::string& what) {
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_TRUE(said_like(ended.err,
                        "^fatal error: weft: exit_goroutine\\(\\) " + what +
                            ".* by goroutine [0-9]+ \"culprit\" \\(made at death_scenarios\\+0x"));
  EXPECT_EQ(count_of(ended.err, "fatal error"), 1);
}

TEST(exit_goroutine, stopped_by_a_catch_all_is_a_named_fatal_error) {
  const child_end ended = scenario("exit_with_catch_all");
  expect_misuse(ended, "was stopped by a catch \\(\\.\\.\\.\\) that does not rethrow");
  EXPECT_EQ(ended.out, "caught\n") << "not a step beyond the handler";
}

TEST(exit_goroutine, stopped_by_noexcept_is_a_named_fatal_error) {
  expect_misuse(scenario("exit_through_noexcept"), "met a noexcept function");
}

TEST(exit_goroutine, stopped_by_a_destructor_that_throws_is_a_named_fatal_error) {
  expect_misuse(scenario("exit_with_a_destructor_that_throws"), ".*a destructor that threw");
}

TEST(exit_goroutine, inside_a_handler_ends_the_handler_too) {
  const child_end ended = scenario("exit_in_catch");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "inner\n");
}

TEST(exit_goroutine, while_an_exception_unwinds_is_a_named_fatal_error) {
  const child_end ended = scenario("exit_while_an_exception_unwinds");
  expect_misuse(ended, "met a noexcept function");
  EXPECT_EQ(ended.out, "");
}

TEST(exit_goroutine, outside_a_goroutine_throws) {
  EXPECT_TRUE(exited(scenario("exit_outside"), 0));
}

// --- pthread_exit and pthread_cancel ---

TEST(pthread_exit, under_a_goroutine_is_a_named_fatal_error) {
  if (kIsTsan) GTEST_SKIP() << "ThreadSanitizer's pthread_exit() insists on the thread's own state";
  for (const char* name : {"pthread_exit_in_a_goroutine", "pthread_exit_in_a_spawned_goroutine",
                           "pthread_exit_in_main", "pthread_cancel_of_a_goroutine"}) {
    SCOPED_TRACE(name);
    const child_end ended = scenario(name);
    EXPECT_TRUE(exited(ended, 2));
    EXPECT_TRUE(said_like(ended.err,
                          "^fatal error: weft: the thread was ended by pthread_exit\\(\\) or "
                          "pthread_cancel\\(\\) under a goroutine, by goroutine [0-9]+ "
                          "\"culprit\" \\("));
    EXPECT_EQ(count_of(ended.err, "fatal error"), 1);
    EXPECT_EQ(ended.out, "outer\n") << "its destructors have run";
  }
}

// --- out of main ---

TEST(exception_out_of_main, leaves_run_as_the_same_object) {
  const child_end ended = scenario("throw_out_of_main");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "same object\n");
  EXPECT_EQ(ended.err, "");
}

TEST(exception_out_of_main, leaves_run_also_when_main_is_locked) {
  EXPECT_TRUE(exited(scenario("throw_out_of_locked_main"), 0));
}

}  // namespace
}  // namespace weft::test
