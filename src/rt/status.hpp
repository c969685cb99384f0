// status.hpp: where a goroutine, and a processor, is in its life, and which steps it may take from there.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::rt {

// The status also says who may touch the goroutine's stack.
enum class g_status : std::uint32_t {
  idle,       // just allocated; owned by whoever allocated it
  runnable,   // in exactly one run queue; the stack belongs to the queue
  running,    // on an M that holds a P; the stack belongs to itself
  syscall,    // in blocking(), on an M that may have lost its P; the stack belongs to itself
  waiting,    // on a wait list; the stack belongs to whoever will ready() it
  preempted,  // stopped inside a signal handler; the stack belongs to its M
  dead,       // in a free pool; it has no stack
  asleep,     // the proxy of a plain thread that waits; it has no stack
};
inline constexpr unsigned kStatusCount = 8;

// Beside the status `waiting`, and gone with it.
inline constexpr std::uint32_t kTrimming =
    0x100;  // somebody looks at it or at its stack; ready() waits until that is over
inline constexpr std::uint32_t kSettled =
    0x200;  // it waited already when the scavenger last came by
inline constexpr std::uint32_t kTrimmed = 0x400;  // and its stack has been seen to
inline constexpr std::uint32_t kWaitMarks = kTrimming | kSettled | kTrimmed;

constexpr std::string_view name_of(g_status s) noexcept {
  constexpr std::string_view names[kStatusCount] = {"idle",    "runnable",  "running", "syscall",
                                                    "waiting", "preempted", "dead",    "asleep"};
  return names[static_cast<unsigned>(s)];
}

// The steps that exist. Rows: from; bits: to. Checked at every change in debug builds.
constexpr bool may_become(g_status from, g_status to) noexcept {
  using enum g_status;
  constexpr auto bit = [](g_status s) { return 1u << static_cast<unsigned>(s); };
  constexpr unsigned table[kStatusCount] = {
      /* idle      */ bit(runnable) | bit(running) |
          bit(dead),  // started; a thread's proxy; never started
      /* runnable  */ bit(running),
      /* running   */ bit(runnable) | bit(waiting) | bit(syscall) | bit(preempted) | bit(dead) |
          bit(asleep),
      /* syscall   */ bit(running) | bit(runnable) |
          bit(waiting),  // back; back without a P; parked inside f
      /* waiting   */ bit(runnable),
      /* preempted */ bit(runnable) | bit(running),
      /* dead      */ bit(idle),
      /* asleep    */ bit(running),
  };
  return (table[static_cast<unsigned>(from)] & bit(to)) != 0;
}

// Written by whoever has the P, and read by others as a hint: what counts is who holds it (P::m).
enum class p_status : std::uint32_t {
  idle,  // no M holds it: it is in the idle list, or in the hands of whoever brings it to the next
  running,  // an M holds it
  syscall,  // its M is inside blocking(), or was when another goroutine came after it: sysmon may take it
  stopped,  // the world is stopped, or the P is beyond max_procs
};
inline constexpr unsigned kPStatusCount = 4;

constexpr std::string_view name_of(p_status s) noexcept {
  constexpr std::string_view names[kPStatusCount] = {"idle", "running", "syscall", "stopped"};
  return names[static_cast<unsigned>(s)];
}

// As for a G. Whoever takes a P from an M, be it the M itself, makes it idle first (P::let_go), and only what is idle is given to an M, or
// stopped: so nothing that an M still holds is given away twice, and nothing starts with the world but through start_world(). `running` and
// `syscall` may follow themselves: the next goroutine on the same M runs, or blocks, where the last one did.
constexpr bool may_become(p_status from, p_status to) noexcept {
  using enum p_status;
  constexpr auto bit = [](p_status s) { return 1u << static_cast<unsigned>(s); };
  constexpr unsigned table[kPStatusCount] = {
      /* idle    */ bit(running) | bit(stopped),              // attached, or kept; the world stops
      /* running */ bit(running) | bit(syscall) | bit(idle),  // as said; blocking(f); let go
      /* syscall */ bit(syscall) | bit(running) | bit(idle),  // as said; f has ended; let go
      /* stopped */ bit(idle),                                // the world starts
  };
  return (table[static_cast<unsigned>(from)] & bit(to)) != 0;
}

}  // namespace weft::rt
