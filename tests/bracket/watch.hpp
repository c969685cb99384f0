// watch.hpp: may this thread call a function that takes locks outside weft, right now?
//
// Every function of interpose.cpp says saw(call) first. saw() ends the program when the thread is
//   inside the runtime      its M's `inside` mark is set: between enter() and leave(), and on g0 all the time
//   sysmon                  from its first line to its last (regions.cpp)
//   resizing                a thread that is not weft's, inside max_procs(n): the world is stopped (regions.cpp)
//   holding L               any thread that holds the scheduler's lock
//   in the signal handler   on the alternate signal stack (only if asked for: it costs a system call each time)
// Before a thread has told its M (begin_thread) and after it has left it (end_thread) it is outside: it has no P, nobody waits
// for it, and starting a thread is where malloc is allowed to be.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::test::bracket {

// One interposed function. All of them form a list, so that the program can say how often each was called.
struct call {
  constexpr explicit call(const char* the_name) noexcept : name(the_name) {}
  const char* const name;
  std::atomic<std::uint64_t> ncalls{0};
  call* next = nullptr;
  std::atomic<bool> is_listed{false};
};

void saw(call& which) noexcept;

// How often the function was called since the program began.
std::uint64_t count_of(const char* name) noexcept;

// A thread in a region may call nothing of what is watched. Not for goroutines: they might leave it on another thread.
class region {
 public:
  explicit region(const char* name) noexcept;
  ~region();
  region(const region&) = delete;
  region& operator=(const region&) = delete;

 private:
  const char* const before_;
};

// Regions entered so far: shows that the wrapping of regions.cpp works.
extern std::atomic<std::uint32_t> nsysmon_regions;
extern std::atomic<std::uint32_t> nresize_regions;
// Goroutines that the signal handler has stopped, or found to have a P after all.
extern std::atomic<std::uint32_t> nhandler_stops;

// A fault on purpose, where the handler stops a goroutine: before it has come in, or after.
enum class sin : std::uint8_t { none, before, inside };
extern std::atomic<sin> sin_in_handler;

// Says what is wrong and goes on, to find all that is wrong in one run.
extern std::atomic<bool> keep_going;
extern std::atomic<std::uint32_t> nviolations;

extern std::atomic<bool> watch_signal_handler;

}  // namespace weft::test::bracket
