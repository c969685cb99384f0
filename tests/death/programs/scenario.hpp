// scenario.hpp: one program, many ways to die. `death_scenarios <name>` runs the function that SCENARIO(<name>) defines.
//
//   SCENARIO(deadlock_simple) {
//     weft::run([] { wait_for_ever(); });
//   }
//
// A scenario that returns makes the program exit with code 0, so one that must die fails its test by surviving. One that
// must survive says with REQUIRE what has to hold: the first that does not is named on stderr, and the exit code is kNotMet.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <weft/weft.hpp>

namespace scenario {

using namespace std::chrono_literals;

inline constexpr int kNotMet = 90;

using function = void (*)();

struct entry {
  std::string_view name;
  function run;
  entry* next;
  entry(std::string_view n, function f) noexcept;
};

// Straight to the descriptor: no lock, no buffer that a violent end would lose, one whole line.
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

[[noreturn]] void not_met(const char* condition, const char* file, int line);

[[gnu::noinline]] void wait_for_ever();

// Threads of this process.
int count_threads();

// Looks again until it holds; after some seconds the requirement is not met.
template <class F>
void require_soon(F&& holds, const char* what) {
  for (int i = 0; i < 900; ++i) {
    if (holds()) return;
    ::usleep(5000);
  }
  not_met(what, "require_soon", 0);
}

// The function's exception, by type.
template <class E, class F>
bool throws(F&& f) {
  try {
    f();
  } catch (const E&) {
    return true;
  }
  return false;
}

// Its destructor tells.
struct farewell {
  const char* text;
  ~farewell() { say("%s", text); }
};

}  // namespace scenario

#define SCENARIO(name)                                          \
  static void scenario_##name();                                \
  static scenario::entry entry_##name(#name, &scenario_##name); \
  static void scenario_##name()

#define REQUIRE(condition)                                               \
  do {                                                                   \
    if (!(condition)) scenario::not_met(#condition, __FILE__, __LINE__); \
  } while (false)
