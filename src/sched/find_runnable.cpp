// find_runnable.cpp: the list of sources, each a short function, in the order in which they are asked.
//
// Fairness: a P takes from its own queue, so goroutines in the global queue could wait for ever; every 61st time the global queue
// comes first. A goroutine at the front (`next`) runs before the ring, so a pair that readies each other could keep the
// ring waiting: when its slice is over (attention), the front goes to the end; so it does behind those whom a timer or the poll wakes (front_aside).
#include "sched/find_runnable.hpp"

#include "sched/borrow.hpp"
#include "sched/chaos.hpp"
#include "sched/netpoll.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/timers.hpp"
#include "sched/world.hpp"

namespace weft::sched {

namespace {

// Taken before, on behalf of this P.
G* take_picked(P* pp) noexcept { return std::exchange(pp->picked, nullptr); }

// With no direct switches the budget is always used up: each goroutine that is run counts instead. Not each slice (schedtick): two that ready
// each other by turns have one for all their turns, and others would wait for 61 of those.
[[gnu::noinline]] G* take_without_direct(P* pp) noexcept {
  pp->counted_budget = pp->direct_budget = 0;
  if (is_chaos(kChaosOrder)) return take_by_choice(pp);
  const std::uint64_t nrun = pp->counters.nthrough.load(std::memory_order_relaxed);  // our own
  return nrun % kGlobalEvery == 0 ? take_global(pp, 1) : nullptr;
}

G* take_due_global(P* pp) noexcept {
  count_direct(pp);
  if (sched.is_direct_off.load(std::memory_order_relaxed)) [[unlikely]]  // fixed at start
    return take_without_direct(pp);
  const bool is_due = pp->direct_budget == 0;
  pp->counted_budget = pp->direct_budget = (is_due ? kGlobalEvery : pp->direct_budget) - 1;
  return is_due ? take_global(pp, 1) : nullptr;
}

bool may_spin(M* mp) noexcept {
  return mp->is_spinning.load(std::memory_order_relaxed) ||  // our own
         sched.may_begin_spinning(sched.nprocs.load(std::memory_order_relaxed));
}

G* take_from_others(M* mp) noexcept {
  if (!may_spin(mp)) return nullptr;
  if (!mp->is_spinning.load(std::memory_order_relaxed)) begin_spinning(mp);  // our own
  return steal_work(mp);
}

// The last look with L held, then the P goes to the idle list. True: it did.
bool drop_p(M* mp, G*& found) noexcept {
  P* const pp = mp->proc();
  locked l;
  // relaxed: changes under L. Then the P is given to the stopper instead.
  if (sched.is_stopping.load(std::memory_order_relaxed)) return false;
  if ((found = take_handy(pp)) != nullptr) return false;  // whoever we have just looked for it
  if ((found = take_global_locked(pp, rt::run_queue::kCapacity / 2)) != nullptr) return false;
  if (!mp->is_spinning.load(std::memory_order_relaxed) && sched.must_spin_first()) {
    begin_spinning(
        mp);  // somebody has work and found no idle P for it: this one must look once more
    return false;
  }
  put_idle_locked(release_p(mp));
  return true;
}

bool regain_p(M* mp) noexcept {
  locked l;
  P* const pp = take_idle_spinning_locked();
  if (pp == nullptr) return false;
  attach_locked(pp, mp);
  begin_spinning(mp);
  return true;
}

void end_slice(P* pp) noexcept {
  if (G* const gp = take_handy(pp)) put_local(pp, gp);
  if (G* const gp = pp->queue.take_next()) put_local(pp, gp);
}

G* look_round(M* mp) noexcept {
  P* const pp = mp->proc();
  if (G* const gp = take_picked(pp)) return gp;
  fire_own_timers(pp);
  ask_poller_if_due(mp);
  if (rt::kCanLoseP && mp->detach.take_attention()) {
    end_slice(pp);
    if (G* const gp = take_urgent()) {
      count_slice(pp);  // of its own
      return gp;
    }
  }
  if (G* const gp = take_due_global(pp)) return gp;
  if (G* const gp = take_own(pp)) return gp;
  if (G* const gp = take_global(pp, rt::run_queue::kCapacity / 2)) return gp;
  if (G* const gp = take_from_poller(mp)) return gp;
  return take_from_others(mp);
}

// The P is lent: only what is urgent runs on it. Null: it went back, and we have none, or it is our own now.
G* look_while_borrowing(M* mp) noexcept {
  mp->detach.take_attention();
  if (G* const gp = take_urgent()) return gp;
  give_back(mp);
  return nullptr;
}

G* found(M* mp, G* gp) noexcept {
  // Whoever found work while looking makes sure that somebody else looks: there may be more.
  if (end_spinning(mp)) wake_one();
  settle_watch(mp);
  return gp;
}

}  // namespace

G* find_runnable(M* mp) noexcept {
  WEFT_CHECK(mp->proc() != nullptr, "looks for work without a P");
  for (;;) {
    // acquire: as in leave_slow(); the stop itself is under L
    if (sched.is_stopping.load(std::memory_order_acquire)) {
      if (!stop_for_world(mp)) return nullptr;
      continue;
    }
    if (std::exchange(mp->is_timer_due, false)) fire_all_timers();
    if (rt::kPreempts && mp->is_borrowing.load(std::memory_order_relaxed)) {  // our own
      if (G* const gp = look_while_borrowing(mp)) return found(mp, gp);
      if (mp->proc() == nullptr && !stop_m(mp)) return nullptr;
      continue;
    }
    G* gp = look_round(mp);
    if (gp != nullptr) return found(mp, gp);
    if (!drop_p(mp, gp)) {
      if (gp == nullptr) continue;
      return found(mp, gp);
    }
    dawdle(window::p_dropped);
    const auto stop = [&] {
      const bool was_spinning = end_spinning(mp);
      dawdle(window::spun);
      return was_spinning;
    };
    if (sched.look_once_more(stop, &anything_queued, [&] { return regain_p(mp); }))
      continue;  // [idle.no_lost_wake]
    if (!stop_m(mp)) return nullptr;
  }
}

}  // namespace weft::sched
