// preempt_signal_test.cpp: a runtime that cannot have its signal says so in one line and runs all the same; one that the program chose itself is
// refused; and whoever had the signal before still gets his.
#include <csignal>
#include <string>

#include "death.hpp"

namespace weft::test {
namespace {

const char* const kBlocked = "the thread that starts the runtime has it blocked";
const char* const kIgnored = "it is set to be ignored";

std::string line_about(int number, const std::string& why) {
  return "weft: cannot stop goroutines with signal " + std::to_string(number) + ": " + why;
}
std::string warning_about(int number, const std::string& why) {
  return line_about(number, why) +
         "; goroutines that compute for long without a call into weft keep their processor\n";
}

void expect_warning(const char* name, const std::string& warning, const environment& env = {}) {
  const child_end ended = scenario(name, env);
  EXPECT_TRUE(exited(ended, 0)) << name;
  EXPECT_EQ(ended.err, warning) << name;
  EXPECT_EQ(ended.out, "it ran\n") << name;
}

void expect_refusal(const char* name, const std::string& message) {
  const child_end ended = scenario(name);
  EXPECT_TRUE(exited(ended, 0)) << name;
  EXPECT_EQ(ended.err, "") << name;
  EXPECT_EQ(ended.out, "refused: " + message + "\nthe next one ran\n") << name;
}

void expect_silence(const char* name, const std::string& out, const environment& env = {}) {
  const child_end ended = scenario(name, env);
  EXPECT_TRUE(exited(ended, 0)) << name;
  EXPECT_EQ(ended.err, "") << name;
  EXPECT_EQ(ended.out, out) << name;
}

TEST(preempt_signal, that_is_blocked_or_ignored_is_told_in_one_line_and_the_program_runs) {
  expect_warning("preempt_signal_is_blocked", warning_about(SIGURG, kBlocked));
  expect_warning("preempt_signal_is_ignored", warning_about(SIGURG, kIgnored));
}

TEST(preempt_signal, that_the_program_chose_is_refused_with_the_reason) {
  expect_refusal("preempt_signal_that_the_program_chose_is_blocked", line_about(SIGUSR2, kBlocked));
  expect_refusal("preempt_signal_that_the_program_chose_is_ignored", line_about(SIGUSR2, kIgnored));
  expect_refusal("preempt_signal_that_nobody_can_catch",
                 line_about(SIGKILL, "no program can catch it"));
}

TEST(preempt_signal, goes_on_to_the_handler_that_was_there_before) {
  expect_silence("preempt_signal_has_a_plain_handler", "three went on to it\n");
  expect_silence("preempt_signal_has_a_handler_with_info", "three went on to it\n");
}

TEST(preempt_signal, can_be_another_one_by_the_environment) {
  for (const char* value : {"preemptsignal=USR1", "preemptsignal=SIGUSR1", "preemptsignal=10"})
    expect_silence("preempt_signal_is_usr1_by_the_environment", "stopped by another one\n",
                   {{"WEFT_DEBUG", value}});
  expect_warning("preempt_signal_is_usr2_by_the_environment_and_blocked",
                 warning_about(SIGUSR2, kBlocked), {{"WEFT_DEBUG", "preemptsignal=USR2"}});
}

}  // namespace
}  // namespace weft::test
