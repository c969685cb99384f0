// queues.hpp: putting runnable goroutines where they will be found, and taking them from there.
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// At the end of pp's queue; if the ring is full, half of it moves to the global queue with gp. Holder of pp only.
void put_local(P* pp, G* gp) noexcept;

// At the front of pp's queue; who was there goes to the end. Holder of pp only.
inline void put_next(P* pp, G* gp) noexcept {
  if (G* const displaced = pp->queue.set_next(gp)) put_local(pp, displaced);
}

void put_global_locked(G* gp) noexcept;
void put_global(G* gp) noexcept;

// One from the global queue, and with it a fair share into pp's ring, as far as there is room: it can never overflow back.
G* take_global_locked(P* pp, std::uint32_t max) noexcept;
G* take_global(P* pp, std::uint32_t max) noexcept;

inline bool has_global() noexcept { return sched.nrunq.load(std::memory_order_seq_cst) != 0; }

// Everything pp has, to the global queue: it is beyond max_procs.
void drain_locked(P* pp) noexcept;

}  // namespace weft::sched
