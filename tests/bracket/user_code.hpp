// user_code.hpp: what the goroutines of the scenarios do themselves, and how a scenario says what it missed.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace weft::test::bracket {

// What C++ programs do: allocate, lock, print.
inline void use_libraries() {
  static std::mutex user_mutex;
  auto p = std::make_unique<std::array<char, 300>>();
  const std::lock_guard hold(user_mutex);
  static std::FILE* const nowhere = std::fopen("/dev/null", "w");
  std::fprintf(nowhere, "%p\n", static_cast<void*>(p.get()));
}

inline std::string unless(bool is_fine, const char* complaint) {
  return is_fine ? std::string() : complaint;
}

inline void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Repeats what until it has happened, at most for 20 seconds.
template <class What, class Happened>
bool until(What what, Happened happened) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    what();
  }
  return true;
}

}  // namespace weft::test::bracket
