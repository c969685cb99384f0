// preempt.hpp: stopping a goroutine that will not stop by itself.
//
// Its P is taken by the detach handshake, which needs no signal. The signal only stops it from using a CPU without a P: the handler is an
// empty call into the runtime, and whoever comes in without a P waits there, on the M's alternate stack, on top of whatever
// it was doing. It never moves to another thread, so whatever it holds of the C library's or its own stays sound. docs/design/preemption.md has
// the whole story.
#pragma once

#include <cstdint>

#include "sched/state.hpp"

namespace weft::sched {

// How long a goroutine may compute without a P.
inline constexpr std::int64_t kComputeWithoutPNs = 200'000;

// False: goroutines are only asked.
inline bool can_signal() noexcept {
  return sched.preempt_signal.load(std::memory_order_relaxed) != 0;  // fixed while running
}

// Installs the handler and sets sched.preempt_signal. `wanted`: a signal's number, 0: the default.
// Returns null, or why there is no such signal; then goroutines are only asked, never stopped.
const char* install_preemption(int wanted) noexcept;

// Sends v the signal, if it computes and none is under way. From sysmon.
void stop_by_signal(M* v, std::int64_t now_ns) noexcept;

// Looks after those that lost their P: remembers who sleeps, gives an idle P to one that computes, or stops it.
// True: there are some that compute. From sysmon.
bool look_after_lost(std::int64_t now_ns) noexcept;

// v is asked for its attention. Gives its CPU clock; whether it has only computed since then can be told later. From sysmon.
std::int64_t begin_to_watch(M* v) noexcept;

// pp's goroutine has had its slice, was asked (attention), and did not answer: takes the P, stops it, and has others run.
void end_slice_by_force(P* pp, std::int64_t now_ns) noexcept;

// pp's thread sleeps in the kernel, inside user code: others run on the P. True: it did, and was taken.
bool take_from_sleeper(P* pp) noexcept;

// The handler's half, in entry.cpp: waits here for a P. Returns on the same thread, in user code.
void stop_here(M* mp) noexcept;

}  // namespace weft::sched
