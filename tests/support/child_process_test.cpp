// child_process_test.cpp: the harness itself, with programs whose end is known; each check is also seen to fail.
#include "support/child_process.hpp"

#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace weft::test {
namespace {

using namespace std::chrono_literals;

child_end shell(const std::string& script, std::chrono::milliseconds limit = 10s) {
  return run_child({.command = {"/bin/sh", "-c", script}, .limit = limit});
}

TEST(child_process, exit_code_and_both_outputs_are_captured) {
  const child_end ended = shell("echo to stdout; echo to stderr >&2; exit 3");
  EXPECT_TRUE(exited(ended, 3));
  EXPECT_EQ(ended.out, "to stdout\n");
  EXPECT_EQ(ended.err, "to stderr\n");
  EXPECT_EQ(ended.signal, 0);
}

TEST(child_process, wrong_exit_code_is_noticed) {
  const child_end ended = shell("exit 3");
  EXPECT_FALSE(exited(ended, 0));
  EXPECT_FALSE(exited(ended, 2));
  EXPECT_FALSE(died_of(ended, 3));
  EXPECT_FALSE(timed_out(ended));
}

TEST(child_process, signal_is_told_from_the_exit_code_that_shells_make_of_it) {
  const child_end killed = shell("kill -ABRT $$");
  EXPECT_TRUE(died_of(killed, SIGABRT));
  EXPECT_FALSE(exited(killed, 128 + SIGABRT));
  EXPECT_FALSE(exited(killed, 0));
  const child_end exits = shell("exit 134");
  EXPECT_TRUE(exited(exits, 134));
  EXPECT_FALSE(died_of(exits, SIGABRT));
}

// A program that hangs after its first word, with a limit that lets it get so far on a machine of any speed.
child_end hang_after_a_word(const std::string& script) {
  for (std::chrono::milliseconds limit = 100ms;; limit *= 2) {
    child_end ended = shell(script, limit);
    if (!ended.out.empty() || limit > 30s) return ended;
  }
}

TEST(child_process, a_program_that_hangs_is_killed_when_its_time_is_up) {
  const child_end ended = hang_after_a_word("echo before; sleep 100");
  EXPECT_TRUE(timed_out(ended));
  EXPECT_FALSE(exited(ended, 0));
  EXPECT_FALSE(died_of(ended, SIGKILL)) << "a timeout is no death of the program's own";
  EXPECT_EQ(ended.out, "before\n");
  EXPECT_LT(ended.took, 50s);
}

// Alive, and no zombie that its new parent has not collected yet.
bool is_running(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return false;
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

void expect_gone_soon(const std::string& pid) {
  ASSERT_FALSE(pid.empty());
  for (int i = 0; i < 500 && is_running(pid); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(is_running(pid)) << pid;
}

TEST(child_process, the_whole_group_dies_on_timeout) {
  const child_end ended = hang_after_a_word("sleep 100 & echo $!; wait");
  EXPECT_TRUE(timed_out(ended));
  expect_gone_soon(find_like(ended.out, "^([0-9]+)$"));
}

TEST(child_process, whoever_stays_behind_neither_delays_the_end_nor_survives) {
  const child_end ended = shell("sleep 100 & echo $!; exit 5");  // it keeps the pipes open
  EXPECT_TRUE(exited(ended, 5));
  EXPECT_LT(ended.took, 50s);
  expect_gone_soon(find_like(ended.out, "^([0-9]+)$"));
}

TEST(child_process, outputs_larger_than_a_pipe_arrive_whole) {
  const child_end ended = shell(
      "i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo abcdefghij >&2; i=$((i+1)); done");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out.size(), 220'000u);
  EXPECT_EQ(ended.err.size(), 220'000u);
}

TEST(child_process, environment_is_added_and_unset) {
  ::setenv("WEFT_TEST_PASSED_ON", "yes", 1);
  const child_end ended =
      run_child({.command = {"/bin/sh", "-c", "echo $A-$WEFT_TEST_PASSED_ON-$HOME"},
                 .environment = {{"A", "b c"}, {"HOME", ""}}});
  EXPECT_EQ(ended.out, "b c-yes-\n");
}

TEST(child_process, a_program_that_does_not_exist_is_an_exit_code) {
  const child_end ended = run_child({.command = {"/nowhere/program"}});
  EXPECT_TRUE(exited(ended, 127));
  EXPECT_TRUE(said(ended.err, "cannot run /nowhere/program"));
}

TEST(child_process, text_is_found_or_not) {
  const std::string text = "one 11\ntwo 22\n";
  EXPECT_TRUE(said(text, "two"));
  EXPECT_FALSE(said(text, "three"));
  EXPECT_TRUE(said_like(text, "^two [0-9]+$"));
  EXPECT_FALSE(said_like(text, "^wo"));
  EXPECT_EQ(find_like(text, "two ([0-9]+)"), "22");
  EXPECT_EQ(find_like(text, "three ([0-9]+)"), "");
  EXPECT_EQ(count_of(text, "o"), 2);
  EXPECT_EQ(words_of(" a  -b /c "), (std::vector<std::string>{"a", "-b", "/c"}));
  EXPECT_TRUE(words_of("").empty());
}

}  // namespace
}  // namespace weft::test
