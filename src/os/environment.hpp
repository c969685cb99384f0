// environment.hpp: WEFT_MAXPROCS and WEFT_DEBUG.
//
// WEFT_DEBUG=key=value,key=value sets switches for people who look for trouble; WEFT_DEBUG=help lists them. They stand in
// one table (environment.cpp), from which parser, help and messages all come.
//
// Rubbish never stops a program: each item that is no good costs one line on stderr and is ignored. What is echoed is cut
// and made printable, so that a hostile value can neither forge a second line nor speak to the terminal.
// A set-uid program is run by somebody else than its owner and takes no orders from the environment.
//
// Read once, before the runtime starts. No malloc, no throw, no stdio: a message goes to `say`, whole, with its newline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::os {

enum class guard_choice : std::uint8_t { automatic, madvise, mprotect };
enum class poller_choice : std::uint8_t { automatic, epoll, uring };

// Bits of debug_settings::chaos: what they do stands in sched/chaos.hpp.
inline constexpr std::uint32_t kChaosYields = 1;
inline constexpr std::uint32_t kChaosOrder = 2;
inline constexpr std::uint32_t kChaosDelays = 4;

struct debug_settings {
  bool migrate = false;            // every goroutine resumes on another thread than it stopped on
  bool update_max_procs = true;    // follow the CPU limit while running
  bool scavenge = true;            // give unused stacks back to the system
  bool deadlock = true;            // report when all goroutines are asleep
  bool conserve = false;           // a wake-up that was lost is fatal
  bool cpu_time = false;           // the processor time of each goroutine is counted
  bool membarrier = true;          // use membarrier(2) where the kernel has it
  bool async_preempt_off = false;  // no goroutine is stopped by a signal
  std::uint32_t chaos = 0;         // kChaos...: the scheduler is unkind
  guard_choice guard = guard_choice::automatic;
  poller_choice poller = poller_choice::automatic;  // automatic: what the program says, or epoll
  std::size_t stack_size = 0;                       // bytes; 0: what the program says
  unsigned max_threads = 0;                         // 0: what the program says
  int preempt_signal = 0;  // stops goroutines; 0: what the program says, or SIGURG
  std::uint64_t seed = 0;  // of the scheduler's random choices; 0: a new one each time
};

using say_fn = void (*)(std::string_view line);

void say_on_stderr(std::string_view line) noexcept;

// Takes the value of WEFT_DEBUG into settings. Pure but for say.
void parse_debug(std::string_view value, debug_settings& settings,
                 say_fn say = say_on_stderr) noexcept;

// Takes the value of WEFT_MAXPROCS: a number from 1 to limit. 0 when it is anything else.
unsigned parse_max_procs(std::string_view value, unsigned limit,
                         say_fn say = say_on_stderr) noexcept;

struct environment {
  unsigned max_procs = 0;  // 0: not set
  debug_settings debug;
};

environment read_environment(unsigned max_procs_limit, say_fn say = say_on_stderr) noexcept;

}  // namespace weft::os
