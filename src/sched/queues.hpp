// queues.hpp: putting runnable goroutines where they will be found, and taking them from there.
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

// The ring is full: half of it moves to the global queue. gp stays here: were it one that yields, it would have to wait for all that
// it queued itself.
void put_local_slow(P* pp, G* gp) noexcept;

// At the end of pp's queue. Holder of pp only.
[[gnu::always_inline]] inline void put_local(P* pp, G* gp) noexcept {
  if (!pp->queue.push(gp)) [[unlikely]]
    put_local_slow(pp, gp);
}

// At the front of pp's queue, where others see it; who was there goes to the end. Holder of pp only.
[[gnu::always_inline]] inline void put_next(P* pp, G* gp) noexcept {
  if (G* const displaced = pp->queue.set_next(gp, pp->is_alone)) put_local(pp, displaced);
}

// Who is next on pp without anybody else knowing (wake.hpp), or null. Holder of pp only.
[[gnu::always_inline]] inline G* take_handy(P* pp) noexcept {
  G* const gp = pp->handy;
  if (gp == nullptr) return nullptr;
  pp->handy = nullptr;
  base::add_by_owner(pp->deferral, 1);
  return gp;
}

// Whoever gets pp finds something in it. For its holder.
inline bool has_work(const P* pp) noexcept {
  return pp->picked != nullptr || pp->handy != nullptr || !pp->queue.is_empty();
}

// Nobody is next on pp. For its holder.
inline bool is_front_free(const P* pp) noexcept {
  return pp->handy == nullptr && !pp->queue.has_next();
}

// As ready() and launch() do it while sched.is_chaotic: at pp's front, or, with forced migration, through the global queue.
void put_slowly(P* pp, G* gp) noexcept;

void put_global_locked(G* gp) noexcept;
void put_global(G* gp) noexcept;
// In their order; nobody is woken for them.
void put_all_global(rt::g_queue& gs) noexcept;

// To be run before others, on the first P there is.
void put_urgent_locked(G* gp) noexcept;
G* take_urgent() noexcept;

// Tied to its thread (G::bound_m). at_front: it had not used up its slice.
void put_stopped_locked(G* gp, bool at_front) noexcept;
// One of them, if it is their turn.
G* take_stopped_locked() noexcept;
// One of them, if there is any: it needs no new thread.
G* take_any_stopped_locked() noexcept;

// Into the global queue, and somebody is woken for it. From any thread: if gp's runtime has ended meanwhile it is dropped.
void submit(G* gp) noexcept;
// The same for one that was woken from outside: if no P is idle, one is borrowed for it.
void submit_woken(G* gp) noexcept;

// One from the global queue, and with it a fair share into pp's ring, as far as there is room: it can never overflow back.
G* take_global_locked(P* pp, std::uint32_t max) noexcept;
G* take_global(P* pp, std::uint32_t max) noexcept;

// Whoever the strategy chooses (chaos.hpp) of all that pp and the global queues have. Null: they have none.
G* take_by_choice(P* pp) noexcept;

inline bool has_global() noexcept { return sched.has_global(); }

// Everything pp has, to the global queue: it is beyond max_procs.
void drain_locked(P* pp) noexcept;

}  // namespace weft::sched
