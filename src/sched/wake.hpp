// wake.hpp: when a goroutine that became runnable is worth another thread.
//
// Waking a thread on another CPU costs the waker a system call and takes some 20 us. A goroutine that readies one other and then waits
// itself (a call and its answer, spawn and join) needs none: the P takes the other one next, sooner than any thread could come. But one
// that readies another and computes on does need it.
//
// Which of the two it is shows only later, so each P learns. Candidates are goroutines put at an empty front of an otherwise empty
// queue. While trust is low the wake-up is made at once. Each time the P takes a goroutine from its own front, trust grows; with
// enough of it the wake-up is left out, and the goroutine is kept where only the holder of the P looks (`handy`), for neither needs a locked
// instruction then: it is put and taken by plain stores. If the P leaves it there until sysmon finds it, within a millisecond or two, sysmon
// takes the P by the detach handshake, brings the goroutine to the global queue and gives the P back (give_away_handy). Trust is lost for
// long then, as when a thief takes a front that was announced. docs/adr/0007 and 0014 have the measurements.
//
// Whoever has a P that goes to sleep, to another M or back to one that computes must not leave a handy one in it unseen: drop_p() takes it,
// those who get the P run it, start_world() and sysmon queue it, and a P that is lent or comes back from a loan has none (make_handy_known).
//
// deferral and was_defer_wrong are hints between the P's holder, thieves and sysmon, all relaxed: one that is seen late costs a late or a
// needless wake-up, and sysmon looks again.
#pragma once

#include <utility>

#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/state.hpp"

namespace weft::sched {

inline constexpr std::int32_t kTrustToDefer = 8;
inline constexpr std::int32_t kTrustMax = 64;
inline constexpr std::int32_t kTrustBetrayed = -256;
inline constexpr std::int64_t kDeferralPatienceNs =
    2 * os::kMillisecond;  // a sysmon that sleeps longer is woken

// pp has a handy one, as far as can be seen from outside.
inline bool is_deferring(const P* pp) noexcept {
  return (pp->deferral.load(std::memory_order_relaxed) & 1) != 0;  // a hint
}

// Whether this time nobody is to be woken.
[[gnu::always_inline]] inline bool may_defer(P* pp) noexcept {
  if (pp->defer_trust < kTrustToDefer || pp->handy != nullptr || pp->queue.has_next() ||
      pp->queue.ring_size() != 0 || pp->picked != nullptr)
    return false;
  if (pp->was_defer_wrong.load(std::memory_order_relaxed)) [[unlikely]] {  // a hint
    pp->was_defer_wrong.store(false, std::memory_order_relaxed);           // likewise
    pp->defer_trust = kTrustBetrayed;
    return false;
  }
  return true;
}

// gp became runnable by the doing of who runs on pp: it is next. Who was to be next goes to the end of the queue. Holder of pp only.
[[gnu::always_inline]] inline void put_in_front(P* pp, G* gp,
                                                void (*wake)() noexcept = wake_one) noexcept {
  if (pp->is_alone) {
    put_next(pp, gp);
  } else if (may_defer(pp)) {
    pp->handy = gp;
    base::add_by_owner(pp->deferral, 1);
    rouse_sysmon(kDeferralPatienceNs);
  } else {
    if (G* const older = take_handy(pp)) put_local(pp, older);
    put_next(pp, gp);
    wake();
  }
}

// Whoever runs on pp does not soon turn to its queue, so others must see what was to be next there. Holder of pp only.
inline void make_handy_known(P* pp) noexcept {
  G* const gp = take_handy(pp);
  if (gp == nullptr) return;
  put_next(pp, gp);
  wake_one();
}

// pp's front, taken aside while those are queued who were woken from outside, and put behind them at the end: two that ready each other by
// turns have the front for a slice, and everybody in the ring would wait for it to end. Holder of pp only, inside the runtime: nobody can take
// pp meanwhile, nor stop the world, so whoever is in our hands is where max_procs() and the end of the runtime look for him.
// But an idler that looks at the queues meanwhile does not see him, and goes to sleep although the wake-up for him was made before: hence
// wake_one() at the end. What even that may miss is sysmon's to find, as in all rings (README.md, [idle.no_lost_wake] 4).
class front_aside {
 public:
  explicit front_aside(P* pp) noexcept
      : pp_(pp), handy_(take_handy(pp)), next_(pp->queue.take_next(pp->is_alone)) {}
  ~front_aside() {
    if (handy_ == nullptr && next_ == nullptr) return;
    if (handy_ != nullptr) put_local(pp_, handy_);  // as take_own() would have taken them
    if (next_ != nullptr) put_local(pp_, next_);
    wake_one();
  }
  front_aside(const front_aside&) = delete;
  front_aside& operator=(const front_aside&) = delete;

 private:
  P* const pp_;
  G* const handy_;
  G* const next_;
};

// The P has taken its own front; because the goroutine before it waits or has ended, or not.
[[gnu::always_inline]] inline void front_was_taken(P* pp, bool earns_trust) noexcept {
  if (earns_trust && pp->defer_trust < kTrustMax) ++pp->defer_trust;
}

}  // namespace weft::sched
