// hold.hpp: keeping a goroutine that waits from being woken for a moment, in order to look at it.
//
// A parked goroutine belongs to whoever will ready() it. Anybody else may take it for a moment by setting kTrimming beside the
// status `waiting`; ready() waits until it is gone (claim_waiting). Meanwhile its fields and its stack stay as they are.
//
// Edges
//   [g.hold]  let_go_waiting: release  ->  claim_waiting, the next hold_waiting: acquire (who looked has done so)
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// False: it does not wait, or somebody else holds it. Any thread, inside the bracket if it has an M. A few instructions, or one madvise.
inline bool hold_waiting(G* gp) noexcept {
  // relaxed, the first and the last: whether it is worth a try; it runs. The CAS: acquire, what it wrote before it parked  [g.hold]
  std::uint32_t seen = gp->status_word.load(std::memory_order_relaxed);
  return (seen & ~(rt::kWaitMarks & ~rt::kTrimming)) ==
             static_cast<std::uint32_t>(g_status::waiting) &&
         gp->status_word.compare_exchange_strong(
             seen, seen | rt::kTrimming, std::memory_order_acq_rel, std::memory_order_relaxed);
}

// `mark`: one of kWaitMarks that stays with it for as long as it waits.
inline void let_go_waiting(G* gp, std::uint32_t mark = 0) noexcept {
  // relaxed: nobody else writes it while it is held
  const std::uint32_t held = gp->status_word.load(std::memory_order_relaxed);
  gp->status_word.store((held & ~rt::kTrimming) | mark, std::memory_order_release);  // [g.hold]
}

}  // namespace weft::sched
