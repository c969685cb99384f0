// death.hpp: what the death tests share: running a scenario, and asking what an address of its report means.
#pragma once

#include <signal.h>

#include <chrono>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/platform.hpp"

namespace weft::test {

using namespace std::chrono_literals;
using environment = std::vector<std::pair<std::string, std::string>>;

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kIsAsan = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kIsAsan = true;
#else
inline constexpr bool kIsAsan = false;
#endif
#else
inline constexpr bool kIsAsan = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kIsTsan = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kIsTsan = true;
#else
inline constexpr bool kIsTsan = false;
#endif
#else
inline constexpr bool kIsTsan = false;
#endif

inline constexpr bool kIsEmulated = sizeof(WEFT_TEST_EMULATOR) > 1;

inline child_end scenario(const std::string& name, environment env = {},
                          std::chrono::milliseconds limit = 6s) {
  // What the developer's shell says must not decide a test.
  environment whole = {{"WEFT_DEBUG", ""}, {"WEFT_MAXPROCS", ""}};
  whole.insert(whole.end(), env.begin(), env.end());
  std::vector<std::string> command = words_of(WEFT_TEST_EMULATOR);
  command.insert(command.end(), {WEFT_DEATH_SCENARIOS, name});
  return run_child({.command = command, .environment = whole, .limit = limit});
}

// With its newline: what the fatal hook is told, but for that.
inline std::string first_line(const std::string& report) {
  return report.substr(0, report.find('\n') + 1);
}

// "death_scenarios+0x1234" -> "function_name file.cpp:12": what addr2line says, inlined callers and all.
inline std::string meaning_of(const std::string& module_and_offset) {
  const std::string offset = find_like(module_and_offset, "\\+(0x[0-9a-f]+)");
  return run_child({.command = {"addr2line", "-i", "-f", "-C", "-e", WEFT_DEATH_SCENARIOS, offset}})
      .out;
}

inline bool has_addr2line() {
  return run_child({.command = {"addr2line", "--version"}}).exit_code == 0;
}

// All offsets of the program itself in a backtrace's frames, explained together.
inline std::string meaning_of_backtrace(const std::string& report) {
  std::vector<std::string> command = {"addr2line", "-i", "-f", "-C", "-e", WEFT_DEATH_SCENARIOS};
  const std::string frame = "death_scenarios+0x";
  for (std::size_t at = report.find("\t#"); at != std::string::npos;
       at = report.find("\t#", at + 1)) {
    const std::string line = report.substr(at, report.find('\n', at) - at);
    if (const std::size_t offset = line.find(frame); offset != std::string::npos) {
      command.push_back(line.substr(offset + frame.size() - 2));
    }
  }
  return command.size() == 6 ? std::string() : run_child({.command = command}).out;
}

#define SKIP_WITHOUT_ADDR2LINE() \
  if (!has_addr2line()) GTEST_SKIP() << "addr2line is not installed (Debian: binutils)"

}  // namespace weft::test
