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
  std::uint32_t waiting = static_cast<std::uint32_t>(g_status::waiting);
  // relaxed, the first and the last: whether it is worth a try; it runs. The CAS: acquire, what it wrote before it parked  [g.hold]
  return gp->status_word.load(std::memory_order_relaxed) == waiting &&
         gp->status_word.compare_exchange_strong(waiting, waiting | rt::kTrimming,
                                                 std::memory_order_acq_rel,
                                                 std::memory_order_relaxed);
}

inline void let_go_waiting(G* gp) noexcept {
  gp->status_word.store(static_cast<std::uint32_t>(g_status::waiting),
                        std::memory_order_release);  // [g.hold]
}

}  // namespace weft::sched
