// limits_test.cpp: bad input and an exhausted system give a clear exception or one clear line, and never a hang.
#include "death.hpp"

namespace weft::test {
namespace {

void expect_fatal(const child_end& ended, const std::string& pattern) {
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_TRUE(said_like(ended.err, "^fatal error: " + pattern));
  EXPECT_EQ(count_of(ended.err, "fatal error"), 1);
}

TEST(wait_group_misuse, below_zero_names_the_goroutine) {
  expect_fatal(scenario("wait_group_negative"),
               "weft: negative wait_group counter by goroutine [0-9]+ \"culprit\" \\(made at "
               "death_scenarios\\+0x");
  const child_end in_main = scenario("wait_group_negative_in_main");
  expect_fatal(in_main, "weft: negative wait_group counter by goroutine 1");
  EXPECT_FALSE(said(in_main.err, "()")) << "nothing where nothing is known";
  expect_fatal(scenario("wait_group_negative_on_a_foreign_thread"),
               "weft: negative wait_group counter by a thread");
}

TEST(thread_limit, beyond_it_is_a_clear_fatal_error) {
  expect_fatal(scenario("threads_exhausted"), "weft: thread exhaustion: .* limit of 6 threads");
  expect_fatal(scenario("threads_exhausted_by_environment", {{"WEFT_DEBUG", "maxthreads=5"}}),
               "weft: thread exhaustion: .* limit of 5 threads");
}

TEST(thread_limit, below_it_all_is_well) {
  EXPECT_TRUE(exited(scenario("threads_just_enough"), 0));
  EXPECT_TRUE(exited(scenario("threads_one_is_enough_without_blocking"), 0));
}

TEST(process_limit, at_the_start_is_an_exception) {
  if (nplatform_threads > 0 || kIsTsan)
    GTEST_SKIP() << "threads that are not the program's come first";
  const child_end ended = scenario("processes_exhausted_at_start");
  if (ended.exit_code == 2) {
    expect_fatal(ended, "weft: failed to create a new thread \\(.*errno=11\\).*ulimit -u");
  } else {
    EXPECT_TRUE(exited(ended, 3));
    EXPECT_TRUE(said(ended.out, "caught: weft: cannot start the runtime's threads"));
  }
}

TEST(process_limit, later_is_a_clear_fatal_error) {
  if (nplatform_threads > 0) GTEST_SKIP() << "threads that are not the program's come first";
  expect_fatal(scenario("processes_exhausted_later"),
               "weft: failed to create a new thread \\(.*errno=11\\).*ulimit -u");
}

#define SKIP_IF_TOO_LARGE()                           \
  if (address_space_taken() > std::size_t{256} << 20) \
  GTEST_SKIP() << "every process takes " << address_space_taken() << " bytes of address space here"

TEST(address_space_limit, of_256_mib_is_enough) {
  SKIP_IF_TOO_LARGE();
  const child_end ended = scenario("address_space_small_at_start");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "it ran\n");
}

TEST(address_space_limit, of_almost_nothing_ends_with_a_message) {
  SKIP_IF_TOO_LARGE();
  const child_end ended = scenario("address_space_tiny_at_start");
  if (ended.exit_code == 2) {
    expect_fatal(ended, "weft: .*(memory|address space|thread|stack)");
  } else if (ended.exit_code == 3) {
    EXPECT_TRUE(said(ended.out, "caught: "));
  } else {
    EXPECT_TRUE(exited(ended, 0));
    EXPECT_EQ(ended.out, "it ran\n");
  }
}

TEST(address_space_limit, reached_by_stacks_ends_with_a_message) {
  SKIP_IF_TOO_LARGE();
  const child_end ended = scenario("address_space_exhausted_by_stacks");
  if (ended.exit_code == 3) {
    EXPECT_EQ(ended.out, "caught bad_alloc\n");
  } else {
    expect_fatal(
        ended, "weft: (no stack for goroutine [0-9]+|failed to create a new thread|out of memory)");
  }
}

TEST(bad_input, max_procs) {
  EXPECT_TRUE(exited(scenario("max_procs_absurd"), 0));
  EXPECT_TRUE(exited(scenario("max_procs_1024", {}, 10s), 0));
}

TEST(bad_input, options) { EXPECT_TRUE(exited(scenario("options_absurd"), 0)); }

TEST(bad_input, stack_of_exactly_1_gib_is_the_largest_that_works) {
  EXPECT_TRUE(exited(scenario("options_largest"), 0));
  EXPECT_TRUE(exited(scenario("options_largest_for_all"), 0));
}

TEST(bad_input, empty_functions) {
  EXPECT_TRUE(exited(scenario("functions_empty"), 0));
  EXPECT_TRUE(exited(scenario("functions_empty_to_run"), 0));
}

TEST(bad_input, copies_that_throw) {
  EXPECT_TRUE(exited(scenario("arguments_that_throw_when_copied"), 0));
}

// Only CPU time is measured, so a busy machine does not matter. One wake-up per millisecond would cost 30 ms.
TEST(idle, program_with_1000_parked_goroutines_uses_no_cpu) {
  const child_end ended = scenario("idle_with_1000_parked", {}, 12s);
  EXPECT_TRUE(exited(ended, 0));
  const std::string cpu_us = find_like(ended.out, "cpu_us_in_3_s=([0-9]+)");
  ASSERT_FALSE(cpu_us.empty());
  EXPECT_LE(std::stol(cpu_us), (kIsAsan || kIsTsan || kIsEmulated ? 60'000 : 2'000)) << ended.out;
}

// --- the environment ---

TEST(environment_variables, rubbish_costs_one_line_and_is_ignored) {
  const child_end procs =
      scenario("environment_is_beaten_by_options", {{"WEFT_MAXPROCS", "banana"}});
  EXPECT_TRUE(exited(procs, 0));
  EXPECT_EQ(procs.err, "weft: WEFT_MAXPROCS=banana is not a number from 1 to 4096; ignored\n");
  EXPECT_EQ(procs.out, "max_procs=2\n");
  const child_end debug =
      scenario("environment_is_beaten_by_options", {{"WEFT_DEBUG", "nonsense"}});
  EXPECT_TRUE(exited(debug, 0));
  EXPECT_EQ(debug.err,
            "weft: WEFT_DEBUG: nonsense: no such key (WEFT_DEBUG=help lists them); ignored\n");
  EXPECT_EQ(debug.out, "max_procs=2\n");
}

TEST(environment_variables, help_lists_every_key_and_the_program_runs) {
  const child_end ended = scenario("environment_is_beaten_by_options", {{"WEFT_DEBUG", "help"}});
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "max_procs=2\n");
  for (const char* key : {"deadlock=", "guard=", "maxthreads=", "membarrier=", "migrate=",
                          "poller=", "scavenge=", "seed=", "stacksize=", "updatemaxprocs="}) {
    EXPECT_TRUE(said(ended.err, key));
  }
}

TEST(environment_variables, maxprocs_is_honoured_and_beaten_by_options) {
  EXPECT_EQ(scenario("environment_tells", {{"WEFT_MAXPROCS", "3"}}).out, "max_procs=3\n");
  EXPECT_EQ(scenario("environment_is_beaten_by_options", {{"WEFT_MAXPROCS", "3"}}).out,
            "max_procs=2\n");
  for (const char* bad : {"0", "-1", "100000", "3x", " 3", "99999999999999999999"}) {
    const child_end ended = scenario("environment_tells", {{"WEFT_MAXPROCS", bad}});
    EXPECT_TRUE(exited(ended, 0));
    EXPECT_EQ(count_of(ended.err, "\n"), 1) << ended.err;
    EXPECT_NE(ended.out, "max_procs=3\n");
  }
}

TEST(fatal_hook, sees_misuse_once) {
  const child_end ended = scenario("hook_on_misuse");
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_EQ(ended.out, "hook: " + first_line(ended.err));
  EXPECT_TRUE(said_like(ended.out,
                        "^hook: fatal error: weft: negative wait_group counter by goroutine 1 "
                        "\\(the main goroutine\\)$"));
}

}  // namespace
}  // namespace weft::test
