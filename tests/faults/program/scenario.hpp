// scenario.hpp: one program in which one system call fails. `weft_fault_program <scenario> <site> <errno> <times> <after> <most> <delay>
// <dies>` runs the function that SCENARIO(<scenario>) defines; where it says attempt() the fault is armed, and what comes of it is told on stdout:
//
//   outcome: done                               all went as if nothing had been
//   outcome: system_error 24 open /tmp/x: Too many open files
//   hits=1 calls=3                              the fault was struck once, of three such calls
//
// Whatever happens, attempt() looks whether descriptors were lost, and the fault is gone after it: what follows shows that all works again.
// A requirement that does not hold is named on stderr, and the exit code is kNotMet.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

namespace faults {

inline constexpr int kNotMet = 90;

struct entry {
  std::string_view name;
  void (*run)();
  entry* next;
  entry(std::string_view n, void (*f)()) noexcept;
};

// A whole line on stdout, at once.
void say(const std::string& line);
[[noreturn]] void not_met(const char* condition, const char* file, int line);

// Arms the fault of the command line.
void strike();
// strike(); f(), again until the fault is met; and how it ended.
void attempt(const std::function<void()>& f);
// The same where descriptors may be open before that are not afterwards, and the other way round: the runtime's own begins or ends.
void attempt_anyhow(const std::function<void()>& f);

// An empty file that goes with the program, and the name of one that is not there.
std::string temporary_file();

// n bytes of which each tells where it stands.
std::string pattern(std::size_t n);

}  // namespace faults

#define SCENARIO(name)                                        \
  static void scenario_##name();                              \
  static faults::entry entry_##name(#name, &scenario_##name); \
  static void scenario_##name()

#define REQUIRE(condition)                                             \
  do {                                                                 \
    if (!(condition)) faults::not_met(#condition, __FILE__, __LINE__); \
  } while (false)
