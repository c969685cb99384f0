// timers.cpp: see timers.hpp.
#include "sched/timers.hpp"

#include <algorithm>

#include "sched/borrow.hpp"
#include "sched/bubbles.hpp"
#include "sched/chaos.hpp"
#include "sched/current.hpp"
#include "sched/foreign.hpp"
#include "sched/park.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/wake.hpp"

namespace weft::sched {

namespace {

// The coarse clock may be old by a nap of sysmon and the time until it gets a CPU.
constexpr std::int64_t kSoonNs = 2 * kSysmonNapNs;
constexpr std::size_t kBatch = 32;

void fire_due(rt::timer_heap& heap, std::int64_t now_ns) noexcept {
  rt::timer_heap::due batch[kBatch];
  std::size_t n;
  do {
    n = heap.pop_due(now_ns, batch);
    // Mostly a G, and one that nobody has touched for a while.
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = reinterpret_cast<std::uintptr_t>(batch[i].arg);  // anything, or nothing
      __builtin_prefetch(reinterpret_cast<const void*>(at), 1);
      __builtin_prefetch(reinterpret_cast<const void*>(at + base::kCacheLine), 1);
    }
    for (std::size_t i = 0; i < n; ++i) batch[i].run();
  } while (n == kBatch);
}

std::int64_t read_clock() noexcept {
  const std::int64_t now_ns = os::now_ns();
  sched.coarse_ns.store(now_ns, std::memory_order_relaxed);  // a hint for all
  return now_ns;
}

}  // namespace

std::uint64_t arm_timer(M* mp, rt::timer* t, std::int64_t when_ns, std::uint8_t bubble) noexcept {
  if (bubble != G::kOrdinary) return bubble_at(bubble).timers.arm(t, when_ns).seq;
  rt::arm_result r{rt::arm_status::retired, 0};
  dawdle(window::arming);
  if (P* const pp = mp != nullptr ? mp->proc() : nullptr) {
    r = pp->timers.arm(t, when_ns);
  } else {
    for (std::uint32_t i = 0; r.status == rt::arm_status::retired && p_at(i) != nullptr; ++i)
      r = p_at(i)->timers.arm(t, when_ns);
  }
  if (!r.is_armed()) return 0;
  dawdle(window::armed);
  // seq_cst: after next_when  [timer.no_lost_wake]
  if (r.status == rt::arm_status::earliest &&
      when_ns < sched.watch_until.load(std::memory_order_seq_cst)) {
    if (mp != nullptr) {
      mp->owes_watch = true;
    } else {
      ensure_watch();
    }
  }
  return r.seq;
}

namespace {

template <class When>
std::int64_t earliest_of_heaps(When when) noexcept {
  std::int64_t earliest = kNever;
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  for (std::uint32_t i = 0; i < n; ++i) earliest = std::min(earliest, when(p_at(i)->timers));
  return earliest;
}

}  // namespace

std::int64_t earliest_timer() noexcept {
  return earliest_of_heaps([](const rt::timer_heap& h) { return h.next_when(); });
}

std::int64_t next_watch() noexcept {
  return earliest_of_heaps([](const rt::timer_heap& h) { return h.wake_when(); });
}

void fire_own_timers(P* pp) noexcept {
  const std::int64_t next = pp->timers.next_when();
  if (next > sched.coarse_ns.load(std::memory_order_relaxed) + kSoonNs)
    return;  // may be old, see above
  const std::int64_t now_ns = read_clock();
  if (next > now_ns) return;
  dawdle(window::to_fire);
  const front_aside front(pp);
  fire_due(pp->timers, now_ns);
}

void fire_all_timers() noexcept {
  const std::int64_t now_ns = read_clock();
  dawdle(window::to_fire);
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  for (std::uint32_t i = 0; i < n; ++i) fire_due(p_at(i)->timers, now_ns);
}

void ready_by_timer(G* gp) noexcept {
  const std::uint8_t place = gp->place;
  if (place == G::kProxy) {
    wake_foreign(gp);
    return;
  }
  M* const mp = current_m();
  if (gp->epoch != sched.epoch.load(std::memory_order_relaxed)) return;  // abandoned
  if (place != G::kOrdinary) unblock(gp);
  claim_waiting(gp);
  if (mp->proc() == nullptr || mp->is_borrowing.load(std::memory_order_relaxed)) {  // our own
    locked l;
    put_urgent_locked(gp);
  } else if (sched.is_migrating.load(std::memory_order_relaxed)) {  // fixed at start
    submit(gp);
  } else if (P* const pp = mp->proc(); is_front_free(pp)) {
    put_in_front(pp, gp);
  } else {
    put_local(pp, gp);
    dawdle(window::queued);
    wake_one();
  }
}

bool is_watch_urgent() noexcept {
  // relaxed: a hint
  return earliest_timer() <= sched.coarse_ns.load(std::memory_order_relaxed) + 2 * kSoonNs;
}

void ensure_watch() noexcept {
  M* woken = nullptr;
  {
    const std::int64_t earliest_ns = next_watch();
    if (earliest_ns >= sched.watch_until.load(std::memory_order_seq_cst)) return;
    locked l;
    if (earliest_ns >= sched.watch_until.load(std::memory_order_relaxed))
      return;  // changes under L
    if (sched.watcher == nullptr) {
      M* const mp = pop_sleeper_locked();
      if (mp == nullptr) {
        kick_spawner();  // the spare it makes finds out before it sleeps
        return;
      }
      mp->waits = rt::m_wait::watch;
      sched.watcher = mp;
    }
    sched.watch_until.store(earliest_ns, std::memory_order_seq_cst);
    woken = sched.watcher;
  }
  wake_m(woken);
}

bool become_watcher_locked(M* mp, std::int64_t earliest_ns) noexcept {
  if (earliest_ns >= sched.watch_until.load(std::memory_order_relaxed)) return false;  // under L
  if (M* const former = sched.watcher) {  // sleeps on, as an idle one; at its time it finds out
    former->waits = rt::m_wait::idle;
    push_idle_m_locked(former);
  }
  sched.watcher = mp;
  sched.watch_until.store(earliest_ns, std::memory_order_seq_cst);  // [timer.no_lost_wake]
  mp->waits = rt::m_wait::watch;
  return true;
}

void stop_watching_locked(M* mp) noexcept {
  if (sched.watcher != mp) return;
  sched.watcher = nullptr;
  sched.watch_until.store(kNever, std::memory_order_seq_cst);
  mp->owes_watch = true;  // there may be more
}

// watch_until stays as it is, in the past: so nobody who arms a timer calls for a watcher.
void begin_firing_locked(M* mp) noexcept {
  sched.watcher = nullptr;
  mp->is_firing = true;
}

void end_firing_locked(M* mp) noexcept {
  if (!std::exchange(mp->is_firing, false)) return;
  mp->owes_watch = true;  // whatever was armed meanwhile
  // Else somebody has taken over, for a timer that was armed too late.
  if (sched.watcher == nullptr)
    sched.watch_until.store(kNever, std::memory_order_seq_cst);  // [timer.no_lost_wake]
}

}  // namespace weft::sched
