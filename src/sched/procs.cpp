// procs.cpp: see procs.hpp.
#include "sched/procs.hpp"

#include "os/clock.hpp"
#include "sched/world.hpp"

namespace weft::sched {

namespace {

// An idle thread leaves after this long, if enough others are idle.
constexpr std::int64_t kIdleExitNs = 5 * os::kSecond;
constexpr std::uint32_t kKeepIdle = 2;

// Forced migration: this very thread has just left the goroutine in pp's hands to any other thread. Relaxed: fixed before any thread
// was made.
bool has_passed_on(const M* mp, const P* pp) noexcept {
  return sched.is_migrating.load(std::memory_order_relaxed) && pp->picked != nullptr &&
         pp->picked->stack != nullptr && pp->picked->cold().last_m == mp;
}

}  // namespace

void put_idle_locked(P* pp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  pp->m.store(nullptr, std::memory_order_relaxed);  // both are read by others as a hint, or under L
  pp->status.store(p_status::idle, std::memory_order_relaxed);
  sched.pidle.push_front(pp);
  // seq_cst: an idler's half of [idle.no_lost_wake]
  sched.npidle.store(static_cast<std::uint32_t>(sched.pidle.size()), std::memory_order_seq_cst);
}

P* take_idle_locked(P* wish) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  P* const pp = wish != nullptr && sched.pidle.contains(wish) ? wish : sched.pidle.front();
  if (pp == nullptr) return nullptr;
  sched.pidle.remove(pp);
  sched.npidle.store(static_cast<std::uint32_t>(sched.pidle.size()), std::memory_order_seq_cst);
  rouse_sysmon(kSysmonNapNs);  // somebody will run again
  return pp;
}

P* take_idle_spinning_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  P* const pp = take_idle_locked();
  if (pp == nullptr) sched.needs_spinning.store(true, std::memory_order_seq_cst);
  return pp;
}

void attach_locked(P* pp, M* mp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  WEFT_CHECK(pp->m.load(std::memory_order_relaxed) == nullptr, "two Ms for one P");  // ours to give
  pp->m.store(mp, std::memory_order_release);  // requesters go from the P to its M
  pp->status.store(p_status::running, std::memory_order_relaxed);  // for those who look
  mp->p.store(pp, std::memory_order_relaxed);                      // visible with the next line
  mp->detach.attach();
}

// Relaxed: the P is ours until it is given away under L, and requesters leave an M alone that is inside the runtime.
P* release_p(M* mp) noexcept {
  P* const pp = mp->proc();
  WEFT_CHECK(pp->m.load(std::memory_order_relaxed) == mp, "the P is not ours");
  pp->m.store(nullptr, std::memory_order_relaxed);
  pp->status.store(p_status::idle, std::memory_order_relaxed);
  mp->p.store(nullptr, std::memory_order_relaxed);
  return pp;
}

void wake_m(M* mp) noexcept {
  if (mp != nullptr) mp->park.wake();
}

M* start_locked(P* pp, bool is_spinning) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  if (M* const mp = sched.midle.pop_front()) {
    // relaxed: for stats(); and the M's own, which it reads after [note.wake]
    sched.nmidle.store(static_cast<std::uint32_t>(sched.midle.size()), std::memory_order_relaxed);
    mp->waits = rt::m_wait::none;
    mp->nextp = pp;
    mp->is_spinning.store(is_spinning, std::memory_order_relaxed);
    if (sched.midle.empty()) kick_spawner();  // it keeps a spare
    return mp;
  }
  pp->wakes_spinning = is_spinning;
  sched.pstarting.push_back(pp);
  kick_spawner();
  return nullptr;
}

void hand_off(P* pp) noexcept {
  M* woken = nullptr;
  bool is_wanted = false;
  {
    locked l;
    if (sched.is_stopping.load(std::memory_order_relaxed)) {  // written under L
      count_stopped_locked(pp);
      return;
    }
    if (pp->picked != nullptr || !pp->queue.is_empty() || !sched.runq.empty()) {
      woken = start_locked(pp, false);
    } else {
      put_idle_locked(pp);
      is_wanted = sched.needs_spinning.load(std::memory_order_seq_cst);
    }
  }
  wake_m(woken);
  // Nobody has looked at the other queues on behalf of this P. [idle.no_lost_wake]
  if (is_wanted || (woken == nullptr && anything_queued())) wake_one();
}

bool anything_queued() noexcept {
  if (sched.nrunq.load(std::memory_order_seq_cst) != 0) return true;
  const std::uint32_t n = sched.nprocs.load(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!p_at(i)->queue.is_empty()) return true;
  }
  return false;
}

void begin_spinning(M* mp) noexcept {
  mp->is_spinning.store(true, std::memory_order_relaxed);  // our own
  sched.nspinning.fetch_add(1, std::memory_order_seq_cst);
  sched.needs_spinning.store(false, std::memory_order_seq_cst);
}

bool end_spinning(M* mp) noexcept {
  if (!mp->is_spinning.load(std::memory_order_relaxed)) return false;  // our own
  mp->is_spinning.store(false, std::memory_order_relaxed);
  // seq_cst: the idler's half of [idle.no_lost_wake]; what was queued before is seen by the look that follows
  [[maybe_unused]] const auto before = sched.nspinning.fetch_sub(1, std::memory_order_seq_cst);
  WEFT_CHECK(before > 0, "more threads stopped spinning than began");
  return true;
}

M* wake_one_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  std::uint32_t none = 0;
  if (!sched.nspinning.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return nullptr;
  P* const pp = take_idle_spinning_locked();
  if (pp == nullptr) {
    sched.nspinning.fetch_sub(1, std::memory_order_seq_cst);
    return nullptr;
  }
  sched.nwakeups.fetch_add(1, std::memory_order_relaxed);  // only counted
  return start_locked(pp, true);
}

void wake_one() noexcept {
  // seq_cst loads: the submitter's half of [idle.no_lost_wake]
  if (sched.npidle.load(std::memory_order_seq_cst) == 0 ||
      sched.nspinning.load(std::memory_order_seq_cst) != 0)
    return;
  M* woken = nullptr;
  {
    locked l;  // also against the end of a runtime: what is raised here is seen there
    woken = wake_one_locked();
  }
  wake_m(woken);
}

bool stop_m(M* mp) noexcept {
  WEFT_CHECK(mp->proc() == nullptr, "a thread sleeps with its P");
  std::int64_t deadline_ns = os::now_ns() + kIdleExitNs;
  {
    locked l;
    if (mp->is_doomed) return false;
    P* const pp = sched.pstarting.front();
    if (pp != nullptr && !has_passed_on(mp, pp)) {  // it waits for a new thread: we are quicker
      sched.pstarting.remove(pp);
      attach_locked(pp, mp);
      mp->is_spinning.store(pp->wakes_spinning, std::memory_order_relaxed);  // our own
      return true;
    }
    mp->waits = rt::m_wait::idle;
    sched.midle.push_front(mp);
    // relaxed, here and below: for stats()
    sched.nmidle.store(static_cast<std::uint32_t>(sched.midle.size()), std::memory_order_relaxed);
  }
  while (!mp->park.sleep(deadline_ns)) {
    locked l;
    if (!sched.midle.contains(mp)) {  // woken at the last moment: the note is or will be set
      deadline_ns = os::kNoDeadline;
    } else if (sched.midle.size() > kKeepIdle) {
      sched.midle.remove(mp);
      sched.nmidle.store(static_cast<std::uint32_t>(sched.midle.size()), std::memory_order_relaxed);
      mp->waits = rt::m_wait::none;
      return false;
    } else {
      deadline_ns = os::kNoDeadline;
    }
  }
  locked l;
  if (mp->is_doomed) return false;
  attach_locked(std::exchange(mp->nextp, nullptr), mp);
  return true;
}

}  // namespace weft::sched
