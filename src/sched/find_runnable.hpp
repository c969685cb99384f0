// find_runnable.hpp: where the next goroutine comes from.
#pragma once

#include "sched/start.hpp"
#include "sched/state.hpp"
#include "sched/wake.hpp"

namespace weft::sched {

// The most goroutines that run one after the other on a P before the global queue is looked at first.
inline constexpr std::uint32_t kGlobalEvery = 61;

// A goroutine for this M to run, which holds a P when it returns. Sleeps as long as there is none.
// Null: this thread is to end, and has no P. On g0.
G* find_runnable(M* mp) noexcept;

// A goroutine begins on pp with a fresh slice: sysmon measures it.
[[gnu::always_inline]] inline void count_slice(P* pp) noexcept {
  if constexpr (rt::kPreempts) base::add_by_owner(pp->schedtick, 1);
}

// One of many has most likely waited for long, and nothing of it is in a cache: its G is asked for when it is eight places from its turn, its
// stack, which is found through the G, when it is four.
inline constexpr std::uint32_t kAskForG = 7;
inline constexpr std::uint32_t kAskForStack = 3;

[[gnu::always_inline]] inline void warm_up_next(const P* pp) noexcept {
  const G* const far = pp->queue.ahead(kAskForG);
  if (far == nullptr) return;
  __builtin_prefetch(far, 1);
  __builtin_prefetch(&far->goid, 1);
  __builtin_prefetch(far->closure, 1);
  if (const G* const near = pp->queue.ahead(kAskForStack)) {
    arch::prefetch_stack(&near->context);
    arch::prefetch_there(near->stack);  // what it notes when it waits again
  }
}

// From pp's own queue: the front, which inherits the time slice (schedtick stays), else the oldest of the ring.
// by_yield: the running goroutine only makes room and will run on, which says nothing for deferring wake-ups.
[[gnu::always_inline]] inline G* take_own(P* pp, bool by_yield = false) noexcept {
  G* front = take_handy(pp);
  if (front == nullptr) front = pp->queue.take_next(pp->is_alone);
  if (front != nullptr) {
    front_was_taken(pp, !by_yield);
    return front;
  }
  G* const gp = pp->queue.pop(pp->is_alone);
  if (gp != nullptr) {
    count_slice(pp);
    warm_up_next(pp);
  }
  return gp;
}

// Each direct switch has taken one from the budget: counted here, once for many.
inline void count_direct(P* pp) noexcept {
  base::add_by_owner(pp->counters.ndirect, pp->counted_budget - pp->direct_budget);
}

// gp was taken from pp's queue by a goroutine that wants to go there directly. False: that must be done on g0.
[[gnu::always_inline]] inline bool can_go_direct(P* pp, G* gp) noexcept {
  if (gp->bound_m == nullptr && gp->stack != nullptr) [[likely]]
    return true;
  if (gp->bound_m == nullptr && bind_cached_stack(pp, gp)) return true;
  pp->picked = gp;
  return false;
}

// A goroutine to switch to straight from another one, without a look round; null: go through g0. Whether somebody wants this M's
// attention is asked by the goroutine it goes to, on its way out of the runtime.
[[gnu::always_inline]] inline G* pick_direct(P* pp, bool by_yield) noexcept {
  if (pp->direct_budget == 0) return nullptr;
  G* const gp = take_own(pp, by_yield);
  if (gp == nullptr) return nullptr;
  --pp->direct_budget;
  return can_go_direct(pp, gp) ? gp : nullptr;
}

// From the queue of another P, or null (steal.cpp). The own ring is empty.
G* steal_work(M* mp) noexcept;
// The same in one look, without spinning, from one that has more than mp's P will have then. Inside the bracket, on a goroutine's stack too.
G* steal_surplus(M* mp) noexcept;

}  // namespace weft::sched
