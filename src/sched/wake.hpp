// wake.hpp: when a goroutine that became runnable is worth another thread.
//
// Waking a thread on another CPU costs the waker a system call and takes some 20 us. A goroutine that readies one other and then waits
// itself (a call and its answer, spawn and join) needs none: the P takes the other one next, sooner than any thread could come. But one
// that readies another and computes on does need it.
//
// Which of the two it is shows only later, so each P learns. Candidates are goroutines put at an empty front of an otherwise empty
// queue. While trust is low the wake-up is made at once. Each time the P takes a goroutine from its own front, trust grows; with
// enough of it the wake-up is left out (deferred). If a thief takes that goroutine, or the P leaves it there until sysmon finds
// it, within a millisecond or two, trust is lost for long. docs/adr/0007 has the measurements.
//
// deferral and was_defer_wrong are hints between the P's holder, thieves and sysmon, all relaxed: one that is seen late costs a late or a
// needless wake-up, and sysmon looks again.
#pragma once

#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/state.hpp"

namespace weft::sched {

inline constexpr std::int32_t kTrustToDefer = 8;
inline constexpr std::int32_t kTrustMax = 64;
inline constexpr std::int32_t kTrustBetrayed = -256;
inline constexpr std::int64_t kDeferralPatienceNs =
    2 * os::kMillisecond;  // a sysmon that sleeps longer is woken

inline bool is_deferred(std::uint32_t deferral) noexcept { return (deferral & 1) != 0; }

// Relaxed, both: the holder writes it.
inline void settle_deferral(P* pp) noexcept {
  const std::uint32_t now = pp->deferral.load(std::memory_order_relaxed);
  if (is_deferred(now)) pp->deferral.store(now + 1, std::memory_order_relaxed);
}

// Whether this time nobody is to be woken. Relaxed: hints, as said above.
[[gnu::always_inline]] inline bool defer_wake(P* pp) noexcept {
  if (pp->defer_trust < kTrustToDefer || pp->queue.ring_size() != 0 || pp->picked != nullptr)
    return false;
  if (pp->was_defer_wrong.load(std::memory_order_relaxed)) [[unlikely]] {
    pp->was_defer_wrong.store(false, std::memory_order_relaxed);
    pp->defer_trust = kTrustBetrayed;
    return false;
  }
  const std::uint32_t now = pp->deferral.load(std::memory_order_relaxed);  // the holder writes it
  if (!is_deferred(now))
    pp->deferral.store(now + 1, std::memory_order_relaxed);  // sysmon may see it late
  rouse_sysmon(kDeferralPatienceNs);
  return true;
}

// A goroutine that just became runnable was put at the front of pp's queue; was_front_empty is what put_next() said.
[[gnu::always_inline]] inline void wake_for_front(P* pp, bool was_front_empty,
                                                  void (*wake)() noexcept = wake_one) noexcept {
  if (pp->is_alone || (was_front_empty && defer_wake(pp))) return;
  settle_deferral(pp);
  wake();
}

// The P has taken its own front; because the goroutine before it waits or has ended, or not.
[[gnu::always_inline]] inline void front_was_taken(P* pp, bool earns_trust) noexcept {
  if (pp->is_alone) return;
  settle_deferral(pp);
  if (earns_trust && pp->defer_trust < kTrustMax) ++pp->defer_trust;
}

}  // namespace weft::sched
