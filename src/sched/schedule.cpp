// schedule.cpp: the loop on g0: find a goroutine, run it, see what to do with it when it comes back.
//
// Some goroutines can run on one thread only (G::bound_m): locked ones, and those whose M lost its P and waits for one. Whoever finds
// such a goroutine gives that thread its P and goes to sleep in its place.
#include "sched/schedule.hpp"

#include "os/signal.hpp"
#include "os/thread_watch.hpp"
#include "sched/borrow.hpp"
#include "sched/chaos.hpp"
#include "sched/current.hpp"
#include "sched/entry.hpp"
#include "sched/find_runnable.hpp"
#include "sched/procs.hpp"
#include "sched/start.hpp"
#include "sched/switch.hpp"
#include "sched/timers.hpp"
#include "sched/world.hpp"

namespace weft::sched {

namespace {

// gp must run on another thread: that one gets our P.
void hand_over(M* mp, G* gp) noexcept {
  M* const to = gp->bound_m;
  P* const pp = release_p(mp);
  const bool is_lent = mp->is_borrowing.exchange(false, std::memory_order_relaxed);  // our own
  {
    locked l;
    WEFT_CHECK(to->nextp == nullptr, "a thread is woken with two Ps");
    to->nextp = pp;
    to->is_nextp_lent = is_lent;
    to->waits = rt::m_wait::none;
  }
  wake_m(to);
}

// Forced migration: whether there is, or can be, a thread to go to.
bool is_there_another() noexcept {
  locked l;
  return !sched.midle.empty() || !is_near_thread_cap_locked();
}

// Any other thread than this one gets our P, with gp to run first.
void pass_on(M* mp, G* gp) noexcept {
  P* const pp = release_p(mp);
  mp->is_borrowing.store(false, std::memory_order_relaxed);  // our own; it is not given back
  WEFT_CHECK(pp->picked == nullptr, "two goroutines are to run first");
  pp->picked = gp;
  M* woken = nullptr;
  {
    locked l;
    if (sched.is_stopping.load(std::memory_order_relaxed)) {  // written under L
      count_stopped_locked(pp);                               // it is run when the world is
    } else {
      woken = start_locked(pp, false);
    }
  }
  wake_m(woken);
}

// The goroutine locked to this thread does not run. Gives the P away and sleeps until that goroutine is found in a queue.
G* wait_for_locked(M* mp) noexcept {
  mp->detach.take_attention();
  if (mp->proc() != nullptr) part_with_p(mp);
  settle_watch(mp);
  {
    locked l;
    if (mp->is_doomed) return nullptr;
    if (mp->nextp == nullptr)
      mp->waits = rt::m_wait::locked;  // else it was found before we got here
  }
  return sleep_until_given_p(mp) ? mp->lockedg : nullptr;
}

// IsSpecial: some of what is asked for by WEFT_DEBUG is done here. Asked once.
template <bool IsSpecial>
G* next_goroutine(M* mp) noexcept {
  if (mp->lockedg != nullptr) return wait_for_locked(mp);
  for (;;) {
    G* const gp = find_runnable(mp);
    if (gp == nullptr) return nullptr;
    if (gp->bound_m != nullptr) {
      hand_over(mp, gp);
    } else if (IsSpecial &&
               sched.is_migrating.load(std::memory_order_relaxed) &&  // fixed before we were made
               gp->stack != nullptr && gp->cold().last_m == mp && is_there_another()) {
      pass_on(mp, gp);
    } else {
      return gp;
    }
    if (!stop_m(mp)) return nullptr;
  }
}

template <bool IsSpecial>
void execute(M* mp, G* gp) noexcept {
  P* const pp = mp->proc();
  bind_stack(pp, gp);
  pp->become(p_status::running);  // the last one may have parked inside blocking()
  set_running(mp, gp);
  base::add_by_owner(pp->counters.nthrough, 1);
  gp->cold().last_m = mp;
  if (rt::kPreempts && gp->has_habit()) mp->detach.remind();  // it leaves its P on the way out
  switch_from_g0<IsSpecial>(mp, gp);
}

template <bool IsSpecial>
void execute_all(M* mp) noexcept {
  while (G* const gp = next_goroutine<IsSpecial>(mp)) {
    execute<IsSpecial>(mp, gp);
    if (mp->is_leaving) break;
  }
}

}  // namespace

// relaxed, both: is_metered was fixed before we were made, and tid is our own
void begin_metering(M* mp) noexcept {
  if (sched.is_metered.load(std::memory_order_relaxed))
    mp->metered_since_ns = os::thread_cpu_ns(mp->tid.load(std::memory_order_relaxed));
}

void end_metering(M* mp, G* gp) noexcept {
  if (sched.is_metered.load(std::memory_order_relaxed))  // as above
    gp->cold().cpu_ns = metered_ns(mp, gp);
}

std::int64_t metered_ns(const M* mp, const G* gp) noexcept {
  const std::int64_t now_ns = os::thread_cpu_ns(mp->tid.load(std::memory_order_relaxed));
  return gp->cold().cpu_ns + (now_ns - mp->metered_since_ns);
}

void schedule(M* mp) noexcept {
  if (mp->proc() == nullptr && mp->lockedg == nullptr && !stop_m(mp)) return;
  // relaxed, both: fixed before we were made
  if (sched.is_chaotic.load(std::memory_order_relaxed) ||
      sched.is_metered.load(std::memory_order_relaxed)) {
    execute_all<true>(mp);
  } else {
    execute_all<false>(mp);
  }
  if (mp->proc() != nullptr) part_with_p(mp);
  settle_watch(mp);
}

void begin_thread(M* mp) noexcept {
  mp->exceptions = arch::thread_exception_state();
  mp->fp = arch::current_fp_control();
  os::stack_bounds bounds;
  // Only on demand: the C library allocates to answer, and the first malloc() on a thread costs 64 MiB of address space.
  if constexpr (arch::kWantsThreadStack) bounds = os::thread_stack();
  arch::adopt_thread(
      mp->fiber, bounds.low,
      static_cast<std::size_t>(static_cast<char*>(bounds.high) - static_cast<char*>(bounds.low)));
  mp->tid.store(os::thread_id(), std::memory_order_relaxed);  // for those who look
  os::use_alternate_stack(mp->alternate_stack);
  mp->needs_fence = sched.needs_fence.load(std::memory_order_relaxed);  // fixed at start
  mp->detach.enter(false);  // nobody requests from an M that has never had a P
  if (is_chaos(kChaosYields)) mp->detach.remind_for_good();
  set_current_m(mp);
}

void end_thread(M* mp) noexcept {
  set_current_m(nullptr);
  os::leave_alternate_stack(mp->alternate_stack);
}

void abandon(M* mp) noexcept {
  mp->is_leaving = true;
  mp->commit = {};
  switch_to_g0(mp, mp->curg(), false);
  __builtin_unreachable();
}

}  // namespace weft::sched
