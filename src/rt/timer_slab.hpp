// timer_slab.hpp: the memory of timers that may be cancelled.
//
// A cancelled timer stays in its heap after its owner has gone, and a late cancel() may look at a node that somebody else uses by
// now. Both are sound because a node here is a timer for ever, and its arming number (timer::seq) goes on counting over all its
// users: a stale number matches nothing.
#pragma once

#include <cstdint>

#include "rt/slab.hpp"
#include "rt/timer.hpp"

namespace weft::rt {

// Idle nodes, linked through timer::link.
using timer_chain = slab_chain<timer>;

// At most `want` idle nodes, fewer when there is no memory. fire, arg and release are null. Thread safe.
timer_chain take_free_timers(std::uint32_t want) noexcept;

// Gives idle nodes back.
void put_free_timers(timer_chain chain) noexcept;

// One node: null when there is no memory. give_back_timer() is a timer::release: a node that will not fire goes back by itself.
timer* take_timer() noexcept;
void release_timer(timer* t) noexcept;
inline void give_back_timer(timer* t, timer_state) noexcept { release_timer(t); }

}  // namespace weft::rt
