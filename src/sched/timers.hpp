// timers.hpp: who wakes up when a timer is due.
//
// Each P has a heap of timers (rt/timer_heap.hpp). A P that schedules looks at its own; but it may be busy for long, or idle. So whenever
// a timer is armed anywhere, one M without a P, the *watcher*, sleeps until the earliest of all. It then takes an idle P, or borrows
// one, fires what is due in any heap, and runs what that woke.
//
// The watcher is whoever went to sleep last, mostly the M whose goroutine has just gone to sleep itself: so a program that
// sleeps and works by turns needs no second thread, and no futex call but the sleep.
//
//    who arms                                        who becomes the watcher
//    arm: the heap's next_when = when    (seq_cst)   watch_until = T          (seq_cst, under L)
//    when < watch_until ? wake the watcher           any next_when < T ? watch until that
// One of the two sees the other.  [timer.no_lost_wake]
// Where many are due within 50 us the watcher gets up that much later, for all of them (timer_heap::wake_when): T is that time, and what is
// compared with it too. Whether they are many is a hint: one that is seen late costs a wake-up more, or those 50 us.
// An M that arms and goes back to its scheduler need not wake anybody: if it finds work it does so then (owes_watch), and if
// not it becomes the watcher itself.
#pragma once

#include <utility>

#include "os/clock.hpp"
#include "sched/state.hpp"

namespace weft::sched {

using rt::kNever;

// Arms an idle node in the heap of mp's P, or, if it has none and from a plain thread (null), of any. mp is inside the runtime, on its way
// to the scheduler; if not, settle_watch() comes next. Says which arming it is, for cancel(); 0: no memory.
// bubble: in that one's heap instead, which its keeper watches.
std::uint64_t arm_timer(M* mp, rt::timer* t, std::int64_t when_ns, std::uint8_t bubble) noexcept;

// The earliest of all, too early at worst.
std::int64_t earliest_timer() noexcept;

// When the watcher is to get up: a moment after that, where many are due within it.
std::int64_t next_watch() noexcept;

// Fires what is due in pp's heap. Reads the clock only if something may be.
void fire_own_timers(P* pp) noexcept;

// Fires what is due in any heap.
void fire_all_timers() noexcept;

// What a timer's fire function calls to wake a goroutine: it runs soon, those that were due first first.
void ready_by_timer(G* gp) noexcept;

// This thread will run user code: make sure that somebody watches.
void ensure_watch() noexcept;
// The same, if what mp armed makes it necessary, and it cannot be left to sysmon's next look.
bool is_watch_urgent() noexcept;
inline void settle_watch(M* mp) noexcept {
  if (mp != nullptr && std::exchange(mp->owes_watch, false) && is_watch_urgent()) ensure_watch();
}

// mp is going to sleep: until then. It is the watcher, if no other one wakes up in time. Under L.
bool become_watcher_locked(M* mp, std::int64_t earliest_ns) noexcept;
void stop_watching_locked(M* mp) noexcept;

// Its time has come, and it is awake. Until it has a P, or goes to sleep again, it looks at all heaps once more, so nobody else need
// watch; and nobody does: if all Ps are busy it cannot have one, and has to fire what is due itself. (When the place was given up at
// once the next thread took it, found that the time had come, and so on: 280 threads stood in line for the lock of one heap, and
// kept the CPUs from the one that had it for half a minute.)
void begin_firing_locked(M* mp) noexcept;
void end_firing_locked(M* mp) noexcept;

}  // namespace weft::sched
