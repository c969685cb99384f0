// child_process.hpp: runs a program and tells how it ended: the harness for programs that must die.
//
//   const auto ended = test::run_child({.command = {"/bin/sh", "-c", "echo hello >&2; exit 3"}});
//   EXPECT_TRUE(test::exited(ended, 3));
//   EXPECT_TRUE(test::said(ended.err, "hello"));
//
// The program gets a process group of its own. When its time is up, or when it has ended and left others behind, the whole group is
// killed, so that no test leaves anything running. Should the test itself be killed, the kernel kills the program.
// Both outputs are read while it runs: a long dump never blocks in a full pipe.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft::test {

// How much longer things take under an emulator or a sanitizer. Limits are multiplied by it.
int time_scale();

struct child {
  std::vector<std::string> command = {};  // the program and its arguments
  std::vector<std::pair<std::string, std::string>> environment =
      {};  // added to ours; an empty value unsets
  std::chrono::milliseconds limit = std::chrono::seconds(10);  // times time_scale()
};

struct child_end {
  bool is_timeout = false;  // it was killed because its time was up
  int exit_code = -1;       // -1: it ended by a signal
  int signal = 0;           // 0: it ended by itself
  std::string out;
  std::string err;
  std::chrono::milliseconds took{0};
};

// Throws std::system_error if there can be no child at all. A program that cannot be started exits with code 127.
child_end run_child(const child& what);

// Each says on failure how the program ended and what it wrote.
testing::AssertionResult exited(const child_end& ended, int code);
testing::AssertionResult died_of(const child_end& ended, int signal);
testing::AssertionResult timed_out(const child_end& ended);

// `text` occurs; `pattern` (POSIX extended, newlines are ordinary lines' ends) matches somewhere.
testing::AssertionResult said(const std::string& output, std::string_view text);
testing::AssertionResult said_like(const std::string& output, const std::string& pattern);

// What the first match's group number `group` holds; empty without a match.
std::string find_like(const std::string& output, const std::string& pattern, int group = 1);

int count_of(std::string_view output, std::string_view text);

// "qemu-aarch64 -L /usr/..." cut into words: goes before the name of a program that was built for the target.
std::vector<std::string> words_of(std::string_view emulator);

}  // namespace weft::test
