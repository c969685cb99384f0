// lock_rank.hpp: in which order the runtime's own locks may be taken.
//
// Every lock has a rank, and whoever holds one may only take one that stands below it in this table. So no two threads can wait for each
// other. A rank belongs to the lock's type: a lock is one word in every build, since some lie in users' objects.
//
//   rank       what it guards                                             because, while it is held
//   world      stops of the world, one after the other                    a stop takes L, and moves timers
//   alarm      one timer of the user's: which arming is the present one;  it sends to its channel, and arms in a heap
//              who listens for signals                                    they are sent to
//   channel    one channel; a select holds several (1)                    whoever waits with a limit arms a timer before it gives them up
//   waiters    the queue of a mutex, a semaphore, a wait group ...;       nothing is taken: whom it wakes it wakes afterwards
//              child processes and what is known of their end;
//              plain threads that wait for a goroutine
//   scheduler  L: idle Ps and Ms, the global queues                       a stack, a G or a timer may be taken or given back, heaps looked at
//   timers     the timer heap of one P; when a P goes, two (1)            -
//   slab       free Gs, free timers                                       -
//   stacks     the stack pools                                            -
//   libraries  where the system's libraries lie; opening the poller, and  -
//              what its helper was told
//
//   (1) several of this rank at once: in the order of their addresses
//
// And none is waited for by a goroutine outside the bracket (sched/entry.hpp): it could be stopped while it holds it, and whoever waits for
// it inside would keep the P that it needs to go on.
//
// Checked in builds with WEFT_DEBUG_CHECKS, at no cost in others. What is held is counted per thread: a lock is freed by the thread that took
// it, though perhaps on another stack (a channel's, by the parking step). These functions are never inlined, so that no thread-local
// address is kept across a switch. try_lock() cannot wait, and so takes any; but it counts as held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::os {

enum class lock_rank : std::uint8_t {
  world,
  alarm,
  channel,
  waiters,
  scheduler,
  timers,
  slab,
  stacks,
  libraries,
};
inline constexpr std::size_t kLockRanks = static_cast<std::size_t>(lock_rank::libraries) + 1;

constexpr bool may_hold_several(lock_rank r) noexcept {
  return r == lock_rank::channel || r == lock_rank::timers;
}

constexpr std::string_view name_of(lock_rank r) noexcept {
  constexpr std::string_view kNames[kLockRanks] = {
      "world", "alarm", "channel", "waiters", "scheduler", "timers", "slab", "stacks", "libraries"};
  return kNames[static_cast<std::size_t>(r)];
}

// Only in builds with WEFT_DEBUG_CHECKS.
// Whether this thread may hold a lock now. Null: nobody minds yet. Set once, by who knows.
extern std::atomic<bool (*)() noexcept> may_hold_locks;
// Before this thread waits for the lock: fatal if that is out of order, or if it may not.
void check_lock_order(lock_rank r, const void* lock) noexcept;
// It has it; it gives it up.
void count_lock(lock_rank r, const void* lock) noexcept;
void uncount_lock(lock_rank r) noexcept;

}  // namespace weft::os
