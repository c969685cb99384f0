// foreign.hpp: threads that are not weft's.
//
// Each that calls in gets a proxy G, which parks on a note instead of leaving a stack, so everything that works on goroutines works
// from it. The proxy goes back to the pool when the thread ends; being type-stable, it can still take a late wake-up then.
#pragma once

#include "sched/park.hpp"
#include "sched/state.hpp"

namespace weft::sched {

// This thread's proxy, made on first use.
G* foreign_g() noexcept;

void park_foreign(publish_fn publish, void* arg, wait_reason why) noexcept;
// The same, with a limit. When the time is over it asks time_out(arg): false means that somebody wakes it at this moment.
void park_foreign_until(publish_fn publish, void* arg, std::int64_t deadline_ns,
                        bool (*time_out)(void* arg), wait_reason why) noexcept;
void wake_foreign(G* proxy) noexcept;

}  // namespace weft::sched
