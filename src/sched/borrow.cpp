// borrow.cpp: see borrow.hpp.
#include "sched/borrow.hpp"

#include "sched/detach.hpp"
#include "sched/find_runnable.hpp"
#include "sched/preempt.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/schedule.hpp"
#include "sched/timers.hpp"
#include "sched/wake.hpp"
#include "sched/world.hpp"

namespace weft::sched {

namespace {

constexpr int kTries = 2;  // each costs a barrier on all CPUs

// What can be taken, best first.
enum class victim : std::uint8_t { blocked, computing };

// A look from afar, before a request is worth its price.
bool looks_like(const M* v, victim kind) noexcept {
  if (v->detach.is_inside()) return false;
  const G* const gp = v->curg();
  if (gp == nullptr) return false;
  if (kind == victim::blocked) return gp->status() == g_status::syscall;
  return gp->status() == g_status::running && gp->is_preemptible() &&
         !v->is_borrowing.load(std::memory_order_relaxed);  // a hint; they would only take turns
}

// pp was v's and is in our hands.
bool take_over(M* mp, M* v, P* pp, victim kind) noexcept {
  if (kind == victim::computing) make_handy_known(pp);
  locked l;
  if (kind == victim::computing && is_still_out_locked(v, pp)) list_lost_locked(v, false);
  if (sched.is_stopping.load(std::memory_order_relaxed)) {  // changes under L
    pp->lender = v;
    count_stopped_locked(pp);
    return false;
  }
  // One who blocks has no use for it: then it is not lent, and does not go back.
  pp->lender = kind == victim::computing ? v : nullptr;
  attach_locked(pp, mp);
  mp->waits = rt::m_wait::none;
  end_firing_locked(mp);
  if (kind == victim::computing) mark_borrowed_locked(mp);
  return true;
}

// One that is kept for its lender: no more than L is needed.
bool borrow_kept(M* mp) noexcept {
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  for (std::uint32_t i = 0; i < n; ++i) {
    P* const pp = p_at(i);
    M* const v = take_kept(pp);
    if (v == nullptr) continue;
    if (!take_over(mp, v, pp, victim::computing)) return false;
    sched.nborrowed.fetch_add(1, std::memory_order_relaxed);  // only counted
    return true;
  }
  return false;
}

bool borrow_of_kind(M* mp, victim kind) noexcept {
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  const std::uint32_t first = static_cast<std::uint32_t>(mp->random.next()) % n;
  const std::uint32_t me = kFirstMRequest + static_cast<std::uint32_t>(mp->id);
  int ntries = 0;
  for (std::uint32_t i = 0; i < n && ntries < kTries; ++i) {
    M* const v = p_at((first + i) % n)->m.load(std::memory_order_acquire);  // Ms are never unmapped
    if (v == nullptr || v == mp || !looks_like(v, kind)) continue;
    ++ntries;
    const g_status wanted = kind == victim::blocked ? g_status::syscall : g_status::running;
    P* const pp = detach(v, me, [&](P*) { return may_lose(v, wanted); });
    if (pp == nullptr) continue;
    if (!take_over(mp, v, pp, kind)) return false;
    if (kind == victim::blocked) {
      sched.nhandoffs.fetch_add(1, std::memory_order_relaxed);  // only counted
      return true;
    }
    sched.nborrowed.fetch_add(1, std::memory_order_relaxed);  // only counted
    return true;
  }
  return false;
}

}  // namespace

// Every switch leads through g0, which gives it back. What was left of the budget is kept: a P that is lent every millisecond would
// otherwise turn to the global queue first each time, and its own queue would wait for ever.
void mark_borrowed_locked(M* mp) noexcept {
  P* const pp = mp->proc();
  count_direct(pp);
  pp->lent_budget = std::exchange(pp->direct_budget, 0);
  pp->counted_budget = 0;
  mp->is_borrowing.store(true, std::memory_order_relaxed);  // our own
}

void end_loan_locked(P* pp) noexcept {
  if (pp->lent_budget != 0)
    pp->counted_budget = pp->direct_budget = std::exchange(pp->lent_budget, 0);
}

bool borrow(M* mp) noexcept {
  // Without the signal nobody could stop the lender should we not give it back soon: two would run on one P.
  return borrow_of_kind(mp, victim::blocked) ||
         (rt::kPreempts && can_signal() &&
          (borrow_kept(mp) || borrow_of_kind(mp, victim::computing)));
}

namespace {

// The lender is LOST, and stays so until it comes for its P; if the next borrower is sooner, neither has to be asked. It computes, so it
// may not come for a long time; one that sleeps comes at once, on credit. It is listed no more: it has its P, as far as anybody else goes.
void keep_locked(P* pp, M* lender) noexcept {
  unlist_lost_locked(lender);
  end_loan_locked(pp);
  pp->become(p_status::running);
  pp->is_kept.store(true, std::memory_order_relaxed);  // for those who look, or under L
  pp->m.store(lender, std::memory_order_release);      // as attach_locked()
}

}  // namespace

bool give_back(M* mp) noexcept {
  mp->is_borrowing.store(false, std::memory_order_relaxed);  // our own
  P* const pp = mp->proc();
  make_handy_known(pp);
  locked l;
  M* const lender = std::exchange(pp->lender, nullptr);
  // relaxed: changes under L. One that has gone into blocking() meanwhile, on credit, has no use for it.
  if (sched.is_stopping.load(std::memory_order_relaxed) || !is_still_out_locked(lender, pp) ||
      lender->curg()->status() == g_status::syscall) {
    end_loan_locked(pp);
    return false;
  }
  release_p(mp);
  if (lender->curg()->has_habit()) {
    attach_locked(pp, lender);
  } else {
    keep_locked(pp, lender);
  }
  return true;
}

M* wake_borrower_locked() noexcept {
  M* const mp = pop_sleeper_locked();
  if (mp == nullptr) {
    kick_spawner();  // the spare it makes looks for urgent ones before it sleeps
    return nullptr;
  }
  mp->must_borrow = true;
  mp->waits = rt::m_wait::borrow;
  return mp;
}

void part_with_p(M* mp) noexcept {
  const bool is_gone =
      mp->is_borrowing.load(std::memory_order_relaxed) && give_back(mp);  // our own
  if (!is_gone) hand_off(release_p(mp));
}

void leave_p(M* mp) noexcept {
  part_with_p(mp);
  {
    locked l;
    if (!mp->is_doomed) {
      mp->detach.lose();
      list_lost_locked(mp, true);  // it is about to sleep, as it says or as it always does
      return;
    }
  }
  // The runtime ended between the two, when we were neither out nor asleep: somebody waits for this thread.
  abandon(mp);
}

}  // namespace weft::sched
