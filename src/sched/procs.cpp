// procs.cpp: see procs.hpp.
#include "sched/procs.hpp"

#include <algorithm>

#include "os/clock.hpp"
#include "os/thread_tuning.hpp"
#include "sched/borrow.hpp"
#include "sched/chaos.hpp"
#include "sched/detach.hpp"
#include "sched/netpoll.hpp"
#include "sched/queues.hpp"
#include "sched/timers.hpp"
#include "sched/world.hpp"

namespace weft::sched {

namespace {

// An idle thread leaves after this long, if enough others are idle.
constexpr std::int64_t kIdleExitNs = 5 * os::kSecond;
constexpr std::uint32_t kKeepIdle = 2;
// Every P was inside the runtime when one was wanted: this soon again, unless one looks round itself before.
constexpr std::int64_t kBorrowAgainNs = 50 * os::kMicrosecond;
constexpr std::int64_t kLongestBorrowAgainNs = os::kMillisecond;

// Forced migration: this very thread has just left the goroutine in pp's hands to any other thread. Relaxed: fixed before any thread
// was made.
bool has_passed_on(const M* mp, const P* pp) noexcept {
  return sched.is_migrating.load(std::memory_order_relaxed) && pp->picked != nullptr &&
         pp->picked->stack != nullptr && pp->picked->cold().last_m == mp;
}

}  // namespace

void put_idle_locked(P* pp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  WEFT_CHECK(pp->status.load(std::memory_order_relaxed) == p_status::idle,  // ours to give
             "a processor that is not idle is listed as such");
  sched.pidle.push_front(pp);
  sched.publish_idle(sched.pidle.size());  // an idler's half of [idle.no_lost_wake]
}

P* take_idle_locked(P* wish) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  P* const pp = wish != nullptr && sched.pidle.contains(wish) ? wish : sched.pidle.front();
  if (pp == nullptr) return nullptr;
  sched.pidle.remove(pp);
  sched.publish_idle(sched.pidle.size());
  rouse_sysmon(kSysmonNapNs);  // somebody will run again
  return pp;
}

P* take_idle_spinning_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  return sched.take_p_to_spin([] { return take_idle_locked(); });
}

void attach_locked(P* pp, M* mp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  WEFT_CHECK(!is_kept_for(mp->proc(), mp), "two Ps for one M");
  unlist_lost_locked(mp);
  // relaxed: our own, or that of one who is out or asleep
  mp->is_borrowing.store(false, std::memory_order_relaxed);
  end_loan_locked(pp);
  WEFT_CHECK(pp->m.load(std::memory_order_relaxed) == nullptr, "two Ms for one P");  // ours to give
  pp->m.store(mp, std::memory_order_release);  // requesters go from the P to its M
  pp->become(p_status::running);
  mp->p.store(pp, std::memory_order_relaxed);  // visible with the next line
  mp->detach.attach();
}

// Relaxed: the P is ours until it is given away under L, and requesters leave an M alone that is inside the runtime.
P* release_p(M* mp) noexcept {
  P* const pp = mp->proc();
  WEFT_CHECK(pp->m.load(std::memory_order_relaxed) == mp, "the P is not ours");
  pp->let_go();
  mp->p.store(nullptr, std::memory_order_relaxed);
  return pp;
}

void wake_m(M* mp) noexcept {
  if (mp == nullptr) return;
  dawdle(window::chosen);
  if (mp->park.wake()) interrupt_poller();
}

// nmidle is for stats(): relaxed.
void push_idle_m_locked(M* mp) noexcept {
  sched.midle.push_front(mp);
  // relaxed: written under L; else a hint
  sched.nmidle.store(static_cast<std::uint32_t>(sched.midle.size()), std::memory_order_relaxed);
}

void remove_idle_m_locked(M* mp) noexcept {
  sched.midle.remove(mp);
  // relaxed: written under L; else a hint
  sched.nmidle.store(static_cast<std::uint32_t>(sched.midle.size()), std::memory_order_relaxed);
  mp->waits = rt::m_wait::none;
}

M* pop_sleeper_locked() noexcept {
  M* const mp = sched.midle.front();
  if (mp != nullptr) {
    remove_idle_m_locked(mp);
  } else if (sched.watcher != nullptr) {
    M* const watcher = sched.watcher;
    stop_watching_locked(watcher);
    watcher->waits = rt::m_wait::none;
    kick_spawner();
    return watcher;
  }
  if (sched.midle.empty()) kick_spawner();  // it keeps a spare
  return mp;
}

M* start_locked(P* pp, bool is_spinning) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  if (M* const mp = pop_sleeper_locked()) {
    mp->nextp = pp;
    mp->is_spinning.store(is_spinning, std::memory_order_relaxed);  // its own, and it sleeps
    return mp;
  }
  pp->wakes_spinning = is_spinning;
  sched.pstarting.push_back(pp);
  return nullptr;
}

// A goroutine that is stopped holds a thread. Some threads are kept back, for those that are woken and for blocking calls.
bool is_near_thread_cap_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  const std::uint32_t kept = sched.nprocs.load(std::memory_order_relaxed) + 2;  // a hint
  const auto nidle = static_cast<std::uint32_t>(sched.midle.size());
  return sched.nm - nidle + kept >= sched.set.max_threads;
}

namespace {

// Whether one that was stopped, and needs no new thread, is to have pp.
G* take_stopped_for_locked(P* pp, bool has_own) noexcept {
  if (is_near_thread_cap_locked()) return take_any_stopped_locked();
  // In turns, or those who are caught asleep again and again would keep its own queue waiting for ever.
  const bool is_theirs = !has_own || (sched.nstopped_first != 0 && !pp->was_theirs);
  pp->was_theirs = has_own && is_theirs;
  return is_theirs ? take_stopped_locked() : nullptr;
}

}  // namespace

void hand_off(P* pp) noexcept {
  M* woken = nullptr;
  bool is_wanted = false;
  dawdle(window::handing_off);
  {
    locked l;
    if (sched.is_stopping.load(std::memory_order_relaxed)) {  // changes under L
      count_stopped_locked(pp);
      return;
    }
    const bool has_own = has_work(pp);
    if (G* const gp = take_stopped_for_locked(pp, has_own)) {  // straight to its own thread
      base::add_by_owner(pp->schedtick, 1);
      woken = gp->bound_m;
      woken->nextp = pp;
      woken->waits = rt::m_wait::none;
    } else if (has_own || has_global()) {
      woken = start_locked(pp, false);
    } else {
      put_idle_locked(pp);
      is_wanted = sched.must_spin_first();
    }
  }
  wake_m(woken);
  dawdle(window::handed_off);
  // Nobody has looked at the other queues on behalf of this P. [idle.no_lost_wake]
  if (is_wanted || (woken == nullptr && anything_queued())) wake_one();
}

bool anything_queued() noexcept {
  return sched.is_anything_queued(sched.nprocs.load(std::memory_order_seq_cst),
                                  [](std::uint32_t i) { return p_at(i)->queue.is_empty(); });
}

void begin_spinning(M* mp) noexcept {
  mp->is_spinning.store(true, std::memory_order_relaxed);  // our own
  sched.begin_spinning();
}

bool end_spinning(M* mp) noexcept {
  if (!mp->is_spinning.load(std::memory_order_relaxed)) return false;  // our own
  mp->is_spinning.store(false, std::memory_order_relaxed);             // read by others as a hint
  // The idler's half of [idle.no_lost_wake]: what was queued before is seen by the look that follows.
  [[maybe_unused]] const auto before = sched.stop_spinning();
  WEFT_CHECK(before > 0, "more threads stopped spinning than began");
  return true;
}

M* wake_one_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  P* const pp = sched.begin_first_spinner([] {
    P* const idle = take_idle_locked();
    if (idle == nullptr) dawdle(window::raised);
    return idle;
  });
  if (pp == nullptr) return nullptr;
  sched.nwakeups.fetch_add(1, std::memory_order_relaxed);  // only counted
  return start_locked(pp, true);
}

namespace {

void wake_one_now() noexcept {
  M* woken = nullptr;
  {
    locked l;  // also against the end of a runtime: what is raised here is seen there
    woken = wake_one_locked();
  }
  wake_m(woken);
}

}  // namespace

void wake_one() noexcept {
  if (!sched.may_skip_wake()) wake_one_now();  // the submitter's half of [idle.no_lost_wake]
}

void wake_one_slowly() noexcept {
  if (!sched.may_skip_wake([] { dawdle(window::looked); })) wake_one_now();
}

namespace {

enum class rest : std::uint8_t { leave, has_p, asleep, borrow };

bool take_any_p_locked(M* mp) noexcept {
  P* const pp = take_idle_locked();
  if (pp == nullptr) return false;
  attach_locked(pp, mp);
  mp->waits = rt::m_wait::none;
  end_firing_locked(mp);
  return true;
}

rest take_or_borrow_locked(M* mp) noexcept {
  if (take_any_p_locked(mp)) return rest::has_p;
  mp->waits = rt::m_wait::borrow;
  return rest::borrow;
}

// mp has no P. may_borrow: it has not tried in vain just now.
rest lie_down_locked(M* mp, std::int64_t earliest_ns, bool may_borrow) noexcept {
  if (mp->is_doomed) return rest::leave;
  end_firing_locked(mp);  // it watches itself from now on
  P* const pp = sched.pstarting.front();
  if (pp != nullptr && !has_passed_on(mp, pp)) {  // it waits for a new thread: we are quicker
    sched.pstarting.remove(pp);
    attach_locked(pp, mp);
    mp->is_spinning.store(pp->wakes_spinning, std::memory_order_relaxed);  // our own
    mp->waits = rt::m_wait::none;
    return rest::has_p;
  }
  if (may_borrow && !sched.urgent.empty()) return take_or_borrow_locked(mp);
  mp->owes_watch = false;
  if (become_watcher_locked(mp, earliest_ns)) return rest::asleep;
  mp->waits = rt::m_wait::idle;
  push_idle_m_locked(mp);
  return rest::asleep;
}

// It woke up, was woken, or its time is over.
rest get_up_locked(M* mp, std::int64_t& exit_ns) noexcept {
  if (mp->is_doomed) return rest::leave;
  const bool has_polled = std::exchange(mp->has_polled, false);
  if (P* const pp = std::exchange(mp->nextp, nullptr)) {
    attach_locked(pp, mp);
    return rest::has_p;
  }
  if (std::exchange(mp->must_borrow, false)) return take_or_borrow_locked(mp);
  if (has_polled) {
    stop_watching_locked(mp);
    if (sched.midle.contains(mp)) remove_idle_m_locked(mp);
    return take_or_borrow_locked(mp);
  }
  const std::int64_t now_ns = os::now_ns();
  if (sched.watcher == mp) {
    if (now_ns < sched.watch_until.load(std::memory_order_relaxed)) return rest::asleep;  // under L
    begin_firing_locked(mp);
    mp->is_timer_due = true;
    return take_or_borrow_locked(mp);
  }
  if (now_ns < exit_ns || !sched.midle.contains(mp)) return rest::asleep;
  if (sched.midle.size() > kKeepIdle && !is_poller_wanted()) {  // [poll.somebody_asks]
    remove_idle_m_locked(mp);
    return rest::leave;
  }
  exit_ns = rt::kNever;
  return rest::asleep;
}

// A thread that watches timers asks the kernel to wake it to the microsecond, and to let it run at once: it will be short. Others do
// not: a goroutine's own nanosleep() is as exact as anywhere, and costs no more interrupts.
void tune_for_watching(M* mp) noexcept {
  if (std::exchange(mp->is_tuned, true)) return;
  os::set_timer_slack_ns(1);
  os::set_short_slice();
}

// Until it is woken, or its time is over; as the watcher until the next timer.
void sleep_once(M* mp, std::int64_t exit_ns) noexcept {
  std::int64_t until_ns = exit_ns;
  bool is_watcher;
  {
    locked l;
    is_watcher = sched.watcher == mp;
    if (is_watcher) until_ns = sched.watch_until.load(std::memory_order_relaxed);  // under L
  }
  if (is_watcher) tune_for_watching(mp);
  if (claim_poller()) {
    sleep_in_poller(mp, until_ns);
    return;
  }
  mp->park.sleep(until_ns == rt::kNever ? os::kNoDeadline : until_ns);
}

// A timer may have been armed before watch_until could be seen.  [timer.no_lost_wake]
void recheck_watch(M* mp) noexcept {
  const std::int64_t earliest_ns = next_watch();
  if (earliest_ns >= sched.watch_until.load(std::memory_order_seq_cst)) return;
  locked l;
  if (sched.watcher == mp && earliest_ns < sched.watch_until.load(std::memory_order_relaxed))
    sched.watch_until.store(earliest_ns, std::memory_order_seq_cst);
}

// What it was woken for may have been seen to by others.
bool is_borrowing_worth_it(M* mp) noexcept {
  if (sched.nurgent.load(std::memory_order_relaxed) != 0) return true;  // a hint
  mp->is_timer_due = mp->is_timer_due && earliest_timer() <= os::now_ns();
  return mp->is_timer_due;
}

}  // namespace

// Its note may still be set by one who woke it as the watcher when it was up already: only a P counts.
bool sleep_until_given_p(M* mp) noexcept {
  for (;;) {
    mp->park.sleep();
    locked l;
    if (mp->is_doomed) return false;
    if (P* const pp = std::exchange(mp->nextp, nullptr)) {
      attach_locked(pp, mp);
      if (std::exchange(mp->is_nextp_lent, false)) mark_borrowed_locked(mp);
      return true;
    }
  }
}

bool stop_m(M* mp) noexcept {
  WEFT_CHECK(mp->proc() == nullptr, "a thread sleeps with its P");
  std::int64_t exit_ns = os::now_ns() + kIdleExitNs;
  std::int64_t again_ns = kBorrowAgainNs;
  bool may_borrow = true;
  for (;;) {
    std::int64_t earliest_ns = next_watch();
    if (!may_borrow) {  // somebody urgent waits: whether or not another timer is due
      earliest_ns = os::now_ns() + again_ns;
      again_ns = std::min(2 * again_ns, kLongestBorrowAgainNs);
    }
    rest then;
    {
      locked l;
      then = lie_down_locked(mp, earliest_ns, may_borrow);
    }
    if (then == rest::asleep) dawdle(window::asleep_soon);
    if (then == rest::asleep && may_borrow) recheck_watch(mp);
    while (then == rest::asleep) {
      sleep_once(mp, exit_ns);
      locked l;
      then = get_up_locked(mp, exit_ns);
    }
    if (then == rest::leave) return false;
    if (then == rest::has_p) {
      if (sched.nurgent.load(std::memory_order_relaxed) > 1)
        wake_one();  // a hint: sysmon sees to it
      return true;
    }
    may_borrow = is_borrowing_worth_it(mp);
    if (may_borrow && borrow(mp)) return true;
    release_poller();  // others were quicker, or they are all in the runtime: they look themselves
    if (may_borrow && std::exchange(mp->is_timer_due, false))
      fire_all_timers();       // they are urgent now
    may_borrow = !may_borrow;  // it tried in vain: not again at once
  }
}

}  // namespace weft::sched
