// hold.hpp: keeping a goroutine that waits from being woken for a moment, in order to look at it.
//
// A parked goroutine belongs to whoever will ready() it. Anybody else may take it for a moment by a mark beside the status `waiting`;
// ready() waits until it is gone (claim_waiting). Meanwhile its fields and its stack stay as they are: rt/g_word.hpp says why.  [g.hold]
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// False: it does not wait, or somebody else holds it. Any thread, inside the bracket if it has an M. A few instructions, or one madvise.
inline bool hold_waiting(G* gp) noexcept { return gp->status_word.hold(); }

// `mark`: one of kWaitMarks that stays with it for as long as it waits.
inline void let_go_waiting(G* gp, std::uint32_t mark = 0) noexcept { gp->status_word.let_go(mark); }

}  // namespace weft::sched
