// procs.hpp: Ps and Ms finding one another: idle lists, waking, attaching.
//
// Functions named *_locked are called under L. The protocol that keeps wake-ups from being lost is in README.md.
#pragma once

#include "os/clock.hpp"
#include "sched/state.hpp"

namespace weft::sched {

// --- under L ---

void put_idle_locked(P* pp) noexcept;
// An idle P, `wish` if that is idle, or null.
P* take_idle_locked(P* wish = nullptr) noexcept;
// For one that is going to spin: if there is no idle P, says so to whoever drops one next.
P* take_idle_spinning_locked() noexcept;

// mp holds pp from now on. mp is this thread's M, or asleep on its note, or LOST.
void attach_locked(P* pp, M* mp) noexcept;

// Threads that sleep without a P.
void push_idle_m_locked(M* mp) noexcept;
void remove_idle_m_locked(M* mp) noexcept;
// One of them, in no list any more; the watcher if there is no other. Null: the spawner is at it.
M* pop_sleeper_locked() noexcept;

// An M that will run pp, to be woken with wake_m() after L is released. Null: the spawner will make one.
M* start_locked(P* pp, bool is_spinning) noexcept;

// As wake_one(), whom to wake after L is released.
M* wake_one_locked() noexcept;

// --- without L ---

void wake_m(M* mp) noexcept;

// This M's own P, inside the runtime: it has none afterwards.
P* release_p(M* mp) noexcept;

// Hardly any new thread may be made.
bool is_near_thread_cap_locked() noexcept;

// Finds an M for pp, which the caller holds and nobody runs, if it has work; else puts it into the idle list.
void hand_off(P* pp) noexcept;

// Something became runnable: if a P is idle and nobody looks for work yet, wake one that does.
void wake_one() noexcept;
// The same while sched.is_chaotic.
void wake_one_slowly() noexcept;

// Some run queue has something in it. After the caller has made its P idle, or stopped spinning, in that order: what was queued
// before that by somebody who saw no idle P, or a spinner, is seen here.  [idle.no_lost_wake]
bool anything_queued() noexcept;

// This M has no P: sleep until it is given one. False: the thread is to end.
bool stop_m(M* mp) noexcept;

// The same for one that waits for a P of its own, in no list (m_wait::p, m_wait::locked).
bool sleep_until_given_p(M* mp) noexcept;

// nspinning, with the M's own flag.
void begin_spinning(M* mp) noexcept;
bool end_spinning(M* mp) noexcept;  // true: it was spinning

// Sysmon looks after what is urgent and has no P.
inline constexpr std::int64_t kUrgentPatienceNs = 250 * os::kMicrosecond;

// Sysmon naps at most this long while anything runs.
inline constexpr std::int64_t kSysmonNapNs = 10 * os::kMillisecond;

// --- threads (spawner.cpp) ---

// Memory for an M, not yet running. Null: no memory.
M* new_m_locked() noexcept;
void free_m_locked(M* mp) noexcept;
void kick_spawner() noexcept;
void m_main(void* m) noexcept;
void spawner_main(void*) noexcept;

// Wakes sysmon, if it is in a sleep of more than so many nanoseconds.
inline void rouse_sysmon(std::int64_t patience_ns) noexcept {
  // seq_cst: after the caller's own store that sysmon looks at before it sleeps for long
  if (sched.sysmon_sleep_ns.load(std::memory_order_seq_cst) > patience_ns) [[unlikely]] {
    sched.sysmon_wish_ns.store(patience_ns, std::memory_order_relaxed);  // the last one counts
    sched.sysmon_note.wake();
  }
}

}  // namespace weft::sched
