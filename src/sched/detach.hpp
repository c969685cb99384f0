// detach.hpp: taking a P from an M against its will. The handshake is in rt/detach_word.hpp.
#pragma once

#include "os/membarrier.hpp"
#include "sched/chaos.hpp"
#include "sched/state.hpp"

namespace weft::sched {

// v's P, in the caller's hands, or null: v came in first, has none, or is no longer what was wanted. `is_wanted(held)` is asked while the
// request stands: what it sees of v is then true, or the request fails.
// v is LOST afterwards and, unless it sleeps, computes on without a P.
template <class Wanted>
P* detach(M* v, std::uint32_t requester, Wanted&& is_wanted) noexcept {
  if (!v->detach.request(requester)) return nullptr;
  dawdle(window::asked);
  os::heavy_barrier();
  dawdle(window::settling);
  P* const held = v->proc();  // read while the request stands
  const auto still = [&] { return held != nullptr && is_wanted(held); };
  if (!v->detach.request_settle(requester, still)) return nullptr;
  held->let_go();  // ours until it is handed on under L
  dawdle(window::p_taken);
  return held;
}

// A P that came back from a loan is kept for its lender (borrow.hpp). Without L a hint.
inline bool is_kept_for(const P* pp, const M* v) noexcept {
  // relaxed, both: change under L
  return pp != nullptr && pp->is_kept.load(std::memory_order_relaxed) &&
         pp->m.load(std::memory_order_relaxed) == v;
}
// The M for which pp was kept; pp is in the caller's hands then, as after detach(). Null: it was not.
// No handshake and no barrier: that M is LOST already, and whatever it does next, it comes to L first.  [detach.kept]
inline M* take_kept_locked(P* pp) noexcept {
  // relaxed, all: change under L
  if (!pp->is_kept.load(std::memory_order_relaxed)) return nullptr;
  pp->is_kept.store(false, std::memory_order_relaxed);
  M* const lender = pp->m.load(std::memory_order_relaxed);
  pp->let_go();
  return lender;
}
inline M* take_kept(P* pp) noexcept {
  if (!pp->is_kept.load(std::memory_order_relaxed)) return nullptr;  // a hint
  locked l;
  return take_kept_locked(pp);
}
// pp is kept for v, and v's goroutine is as wanted: then pp is the caller's, and this is that goroutine. It stays so while L is held: v comes
// to L before it changes it.
inline G* take_kept_from(M* v, P* pp, g_status wanted) noexcept {
  if (!pp->is_kept.load(std::memory_order_relaxed)) return nullptr;  // a hint
  locked l;
  G* const gp = v->curg();
  if (!is_kept_for(pp, v) || gp->status() != wanted) return nullptr;
  take_kept_locked(pp);
  return gp;
}

// The goroutine that v runs, if it may lose its P now. Gs are never unmapped; asked while a request stands.
inline bool may_lose(const M* v, g_status wanted) noexcept {
  const G* const gp = v->curg();
  return gp != nullptr && gp->status() == wanted && gp->is_preemptible();
}

// v has lost its P and is outside the runtime: sysmon looks after it, at each look while it is awake. Under L.
inline bool is_listed_locked(const M* v) noexcept {
  return sched.lost_awake.contains(v) || sched.lost_asleep.contains(v);
}
inline void unlist_lost_locked(M* v) noexcept {
  if (sched.lost_awake.contains(v)) {
    sched.lost_awake.remove(v);
  } else if (sched.lost_asleep.contains(v)) {
    sched.lost_asleep.remove(v);
  }
}
inline void list_lost_locked(M* v, bool is_asleep) noexcept {
  WEFT_CHECK(!is_kept_for(v->proc(), v), "its P is kept for it: it has lost nothing");
  v->computes_since_cpu.store(0, std::memory_order_relaxed);  // only a time
  unlist_lost_locked(v);
  (is_asleep ? sched.lost_asleep : sched.lost_awake).push_back(v);
}

// It has not come for a P yet, so it need not even know that it was without one. Under L.
inline bool is_still_out_locked(const M* mp, const P* pp) noexcept {
  return mp != nullptr && !mp->is_doomed && mp->waits == rt::m_wait::none && mp->detach.is_lost() &&
         mp->proc() == pp;
}

}  // namespace weft::sched
