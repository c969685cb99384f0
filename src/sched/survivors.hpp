// survivors.hpp: plain threads that wait for something only a goroutine can do, and outlive its runtime.
//
// A goroutine that waits is abandoned together with the one it waits for. A plain thread is not: it would wait for ever. So it enters itself
// here, and the end of the runtime wakes it, unless somebody has done so before.
//
// How the two meet, and why neither is missed, is survivors_core.hpp's.  [epoch.end]
#pragma once

#include <cstdint>

#include "sched/park.hpp"
#include "sched/state.hpp"
#include "sched/survivors_core.hpp"

namespace weft::sched {

inline bool has_ended(std::uint32_t epoch) noexcept { return has_moved_on(sched.epoch, epoch); }

// On a plain thread. As park_foreign(), but no longer than the runtime `epoch` lasts: then withdraw(arg) takes back what publish entered.
// False from withdraw: somebody is waking this thread already.
void park_foreign_while(std::uint32_t epoch, publish_fn publish, bool (*withdraw)(void* arg),
                        void* arg, wait_reason why) noexcept;

// The epoch has moved on: ends all these waits.
void wake_survivors() noexcept;

}  // namespace weft::sched
