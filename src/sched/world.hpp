// world.hpp: stopping the world: every P in one hand.
//
// It stops the scheduler, not the code: a goroutine that makes no runtime call runs on without a P and waits at its next one.
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// Takes every P. The caller must not hold one, nor L. Between stop and start the rule of the bracket holds.
// Stops are serialised by world_lock, which the caller holds.
void stop_world() noexcept;

// Ps below nprocs go back, to the M they were taken from if it has not come for one yet.
void start_world() noexcept;

// This M found sched.is_stopping: gives its P to the stopper and waits. False: the thread is to end. On g0.
bool stop_for_world(M* mp) noexcept;

// pp is in. Under L.
void count_stopped_locked(P* pp) noexcept;

// Changes the number of Ps, with the world stopped by the caller. Ps up to n exist (make_procs).
void resize_stopped(unsigned n) noexcept;

// Tells each P whether it is the only one. No P is held by anybody.
void mark_alone_locked() noexcept;

// Makes the Ps up to n that do not exist yet. False: no memory. Under world_lock, or before the runtime runs.
bool make_procs(unsigned n) noexcept;

// Makes the Ps, stops, resizes, starts. From a goroutine or any other thread. is_explicit: the user says so, and the machine's limit is
// no longer followed; else n is that limit, and a number that the user has said meanwhile comes first.
// Returns the number before; 0: no memory; kNoRuntime: a plain thread came too late.
inline constexpr unsigned kNoRuntime = ~0u;
unsigned resize(unsigned n, bool is_explicit) noexcept;

// The machine's limit is followed from now on.
void follow_machine() noexcept;

}  // namespace weft::sched
