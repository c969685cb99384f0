// tool.hpp: running what may not be installed. A test that needs it skips, and says what is missing.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "support/child_process.hpp"

namespace weft::test {

inline bool is_installed(std::string_view tool) {
  if (tool.empty()) return false;
  if (tool.find('/') != std::string_view::npos)
    return ::access(std::string(tool).c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + '/' + std::string(tool)).c_str(), X_OK) == 0) return true;
  }
  return false;
}

inline bool is_emulated() { return *WEFT_TEST_EMULATOR != '\0'; }

// The program that was built in this way, with what must stand before it.
inline std::vector<std::string> platform_program(const std::string& way) {
  auto command = words_of(WEFT_TEST_EMULATOR);
  command.push_back(std::string(WEFT_PLATFORM_PROGRAMS) + "/platform_" + way);
  return command;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace weft::test

#define NEEDS_TOOL(tool) \
  if (!weft::test::is_installed(tool)) GTEST_SKIP() << "'" << (tool) << "' is not installed"
