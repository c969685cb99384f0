// entry.cpp: the slow ways in and out of the runtime.
//
// An M comes in without its P when that was taken while it was outside: it slept in the kernel, it computed for longer than its slice, the
// P was borrowed, or the world was stopped. Its goroutine stays on this thread until it has a P again: it is in the middle of user code.
//
//   it slept (blocking(), or found out by sysmon)   it was woken: it borrows a P, or is urgent
//   it computed                                     it queues with those that are stopped; in front if its slice is not over
//
// On credit: one that slept and has just woken need not come by a P at once. It may compute for 0.2 ms without (preempt.hpp), go back to
// sleep, and make calls that need none: yield(), checkpoint(), the begin and the end of blocking(). So a loop that sleeps in the kernel and
// calls little else costs the others no processor at all. Sysmon ends the credit by seeing it compute.
//
// The same is done inside the signal handler (stop_here), which is nothing but an empty call into the runtime.
#include "sched/entry.hpp"

#include "os/clock.hpp"
#include "sched/borrow.hpp"
#include "sched/chaos.hpp"
#include "sched/crash.hpp"
#include "sched/detach.hpp"
#include "sched/netpoll.hpp"
#include "sched/park.hpp"
#include "sched/preempt.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/schedule.hpp"
#include "sched/wake.hpp"

namespace weft::sched {

namespace {

enum class entrance : std::uint8_t { open, doomed, queued, borrow };

constexpr std::int64_t kShortAbsenceNs = 50 * os::kMicrosecond;
constexpr std::uint8_t kShortAbsences = 16;

// An idle P at once, preferably the one we had. True: done.
bool take_p_locked(M* mp) noexcept {
  P* const pp = take_idle_locked(mp->oldp);
  if (pp == nullptr) return false;
  attach_locked(pp, mp);
  mp->waits = rt::m_wait::none;
  mp->was_slice_over = false;
  return true;
}

// What is kept for us. mp is LOST and has come in.
bool take_own_back_locked(M* mp) noexcept {
  P* const pp = mp->proc();
  if (!is_kept_for(pp, mp)) return false;
  take_kept_locked(pp);
  attach_locked(pp, mp);
  return true;
}

bool has_credit(const M* mp, const G* gp) noexcept {
  return (gp->has_habit() || mp->is_on_credit) &&
         mp->computes_since_cpu.load(std::memory_order_relaxed) == 0;  // sysmon has not seen it
}

// mp is LOST and needs no P for now. Not if it has one for the asking: nobody else would use that while it stays out.
bool may_go_on_credit(const M* mp) noexcept {
  return mp->detach.is_lost() && has_credit(mp, mp->curg()) && !is_kept_for(mp->proc(), mp);
}

// Forced migration has no use for a yield() that is no step. Relaxed: fixed before any thread was made.
bool may_stay_out(const M* mp) noexcept {
  return may_go_on_credit(mp) && !sched.is_migrating.load(std::memory_order_relaxed);
}

bool was_asleep(const M* mp, const G* gp) noexcept {
  return gp->has_habit() || gp->status() == g_status::syscall || has_credit(mp, gp);
}

// The goroutine goes into a queue, tied to this thread. Whoever finds it there gives us a P.
void queue_self_locked(M* mp, G* gp) noexcept {
  const bool is_urgent = was_asleep(mp, gp);
  gp->bound_m = mp;
  gp->become(g_status::runnable);
  mp->waits = rt::m_wait::p;
  const bool was_slice_over = std::exchange(mp->was_slice_over, false);
  if (is_urgent) {
    put_urgent_locked(gp);
    rouse_sysmon(kUrgentPatienceNs);  // nobody else was told
  } else {
    put_stopped_locked(gp, !was_slice_over);
  }
}

// mp is LOST and has come in.
entrance come_in(M* mp, G* gp) noexcept {
  locked l;
  if (!mp->detach.is_lost()) return entrance::open;  // given back meanwhile
  if (take_own_back_locked(mp)) return entrance::open;
  mp->p.store(nullptr, std::memory_order_relaxed);  // our own; others ask under L
  unlist_lost_locked(mp);
  if (mp->is_doomed) return entrance::doomed;
  if (take_p_locked(mp)) return entrance::open;
  if (was_asleep(mp, gp) && !mp->is_pinned) {
    mp->waits = rt::m_wait::borrow;
    return entrance::borrow;
  }
  if (!mp->is_pinned)
    release_poller();  // it calls in by its own will: not all do nothing but compute
  queue_self_locked(mp, gp);
  return entrance::queued;
}

// It could not borrow.
entrance queue_up(M* mp, G* gp) noexcept {
  locked l;
  if (mp->is_doomed) return entrance::doomed;
  if (take_p_locked(mp)) return entrance::open;
  queue_self_locked(mp, gp);
  return entrance::queued;
}

// False: the runtime has ended.
bool wait_for_p(M* mp, G* gp) noexcept {
  if (!sleep_until_given_p(mp)) return false;
  if (gp->nlocks == 0) gp->bound_m = nullptr;
  gp->become(g_status::running);
  if (gp->resume.nblocking != 0) gp->become(g_status::syscall);
  return true;
}

// It left its P since it always sleeps outside. If it comes back soon so many times in a row it does not any more: it may only have
// waited for malloc's lock when it was caught.
void doubt_habit(M* mp, G* gp) noexcept {
  const std::int64_t left_ns = std::exchange(mp->left_ns, 0);
  if (left_ns == 0) return;
  if (os::now_ns() - left_ns >= kShortAbsenceNs) {
    mp->nshort_absences = 0;
  } else if (++mp->nshort_absences >= kShortAbsences) {
    mp->nshort_absences = 0;
    gp->set_manner(G::kHabit, false);
  }
}

// False: the runtime has ended, and mp has no P.
bool regain(M* mp) noexcept {
  dawdle(window::lost);
  if (mp->detach.settle()) return true;
  G* const gp = mp->curg();
  entrance way = come_in(mp, gp);
  if (way == entrance::borrow) way = borrow(mp) ? entrance::open : queue_up(mp, gp);
  if (way == entrance::queued) return wait_for_p(mp, gp);
  return way == entrance::open;
}

}  // namespace

void enter_slow(M* mp) noexcept {
  die_if_forked();
  if (!regain(mp)) abandon(mp);
  mp->is_on_credit = false;
  doubt_habit(mp, mp->curg());
  if (mp->curg()->has_habit()) mp->detach.remind();  // so that it leaves its P on the way out
}

// Whoever is doomed has been asked for attention as well.
bool stay_out(M* mp) noexcept {
  die_if_forked();
  if (!may_stay_out(mp)) return false;
  if (!mp->detach.leave()) return true;
  mp->detach.enter(mp->needs_fence);
  return false;
}

bool begin_on_credit(M* mp) noexcept {
  die_if_forked();
  if (mp->detach.enter(mp->needs_fence)) return false;
  G* const gp = mp->curg();
  const bool has = may_go_on_credit(mp);
  if (has) {
    gp->become(g_status::syscall);
    gp->resume.nblocking = 1;
  }
  mp->detach.leave();
  return has;
}

bool end_on_credit(M* mp) noexcept {
  die_if_forked();
  G* const gp = mp->curg();
  locked l;
  // Then it has a P, or can have one at once; or it must end.
  if (!mp->detach.is_lost() || mp->is_doomed || !sched.pidle.empty() || is_kept_for(mp->proc(), mp))
    return false;
  gp->resume.nblocking = 0;
  gp->become(g_status::running);
  mp->is_on_credit = true;
  list_lost_locked(mp, false);
  return true;
}

void leave_slow() noexcept {
  M* mp;
  do {
    mp = enter();
    const G* const gp = mp->curg();
    // acquire: what was done before the stop was asked for; who must give its P up finds out under L
    if (!gp->is_preemptible() && !sched.is_stopping.load(std::memory_order_acquire)) {
      mp->detach
          .take_attention();  // it keeps its P (no_preempt); only a stop of the world is heard
      make_handy_known(mp->proc());
    } else if (gp->has_habit() && gp->resume.nblocking == 0 && gp->is_preemptible()) {
      mp->detach.take_attention();
      mp->left_ns = os::now_ns();
      leave_p(mp);
      mp->detach.leave();
      return;
    } else if (!mp->detach.wants_attention()) {
      mp->detach.take_attention();  // it was only reminded, and keeps its P inside blocking()
      if (is_chaos(kChaosYields) && must_yield(gp)) {
        yield_through_g0(mp);
        mp = current_m();
      }
    } else {
      yield_through_g0(mp);
      mp = current_m();
    }
  } while (mp->detach.leave() && mp->detach.has_news());
}

void stop_here(M* mp) noexcept {
  if (!mp->detach.enter(sched.needs_fence.load(std::memory_order_relaxed))) {  // fixed at start
    {
      locked l;
      mp->is_pinned = true;
    }
    regain(mp);  // or the runtime has ended: the code runs on, as an orphan, until it comes in
    mp->is_on_credit = false;
    locked l;
    mp->is_pinned = false;
  }
  // Nobody is switched to in a signal handler: who wants our attention gets it at the next call.
  mp->detach.leave();
}

}  // namespace weft::sched
