// schedule.hpp: what a thread of weft does with its life.
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// Runs goroutines on this thread until it is to end. On g0, with or without a P. Afterwards it has none.
void schedule(M* mp) noexcept;

// Ties this thread to its M, and unties it.
void begin_thread(M* mp) noexcept;
void end_thread(M* mp) noexcept;

// Inside the runtime, no P, on a goroutine whose runtime has ended: this thread goes, the goroutine stays for ever.
[[noreturn]] void abandon(M* mp) noexcept;

}  // namespace weft::sched
