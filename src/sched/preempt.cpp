// preempt.cpp: see preempt.hpp.
//
// What runs in the handler takes no lock but L, which this thread cannot hold: it is outside the runtime.
#include "sched/preempt.hpp"

#include "os/library_ranges.hpp"
#include "os/preempt_signal.hpp"
#include "os/text.hpp"
#include "os/thread.hpp"
#include "sched/current.hpp"
#include "sched/detach.hpp"
#include "sched/procs.hpp"

namespace weft::sched {

namespace {

constexpr std::int64_t kAnswerNs = 5 * os::kMillisecond;
constexpr std::uint8_t kSpareTimes = 8;     // not stopped in the C library so many times
constexpr std::uint32_t kLookAtOnce = 128;  // of those that are lost, at each look

void on_signal(const os::interrupted& at) {
  M* const mp = current_m();
  if (mp == nullptr) return;  // not one of ours
  // A stranger's may have swallowed ours, so the flag decides. acquire: with the exchange of the sender
  if (!mp->is_signalled.exchange(false, std::memory_order_acq_rel)) return;
  if (at.was_call_cut_short) sched.ninterrupted.fetch_add(1, std::memory_order_relaxed);
  if (mp->detach.is_inside()) {
    mp->detach.ask_attention();
    return;
  }
  if (!mp->detach.is_lost()) return;  // it was given one meanwhile
  if (os::is_in_system_library(at.pc) && mp->nspared < kSpareTimes) {
    ++mp->nspared;  // it may hold a lock that many wait for: a little later is better
    return;
  }
  mp->nspared = 0;
  stop_here(mp);
}

os::thread_activity look_at(M* v) noexcept {
  v->seen.eye.open(v->tid.load(std::memory_order_relaxed));  // written before it ever had a P
  return v->seen.eye.look();
}

// A goroutine that is stopped holds a thread. Some are kept back, for those that are woken and for blocking calls.
enum class room : std::uint8_t { enough, only_for_stopped, none };

room room_for_another_locked() noexcept {
  const std::uint32_t kept = sched.nprocs.load(std::memory_order_relaxed) + 2;  // a hint
  const auto nidle = static_cast<std::uint32_t>(sched.midle.size());
  if (sched.nm - nidle + kept < sched.set.max_threads) return room::enough;
  return sched.stopped.empty() ? room::none : room::only_for_stopped;
}

void say_that_the_cap_is_reached(std::size_t nstopped) noexcept {
  os::text t;
  t << "weft: " << nstopped << " goroutines stopped in user code hold all max_threads ("
    << sched.set.max_threads << "); call weft::checkpoint() in long loops, or raise it\n";
  os::write_all(os::kStderr, t.view());
}

// At the cap one that is stopped may take turns with another, since that needs no new thread.
bool may_hold_another_thread() noexcept {
  std::size_t nstopped;
  {
    locked l;
    const room left = room_for_another_locked();
    if (left == room::enough) return true;
    if (left == room::only_for_stopped && sched.nstopped_first == 0) sched.nstopped_first = 1;
    nstopped = sched.stopped.size();
    if (std::exchange(sched.was_cap_said, true)) return left == room::only_for_stopped;
  }
  say_that_the_cap_is_reached(nstopped);  // L is free: stderr may be a pipe that nobody reads
  return nstopped != 0;
}

// An idle P for one that computes without. True: it has one.
bool reattach(M* v) noexcept {
  if (sched.npidle.load(std::memory_order_relaxed) == 0) return false;  // a hint
  locked l;
  if (!sched.mlost.contains(v) || v->waits != rt::m_wait::none || !v->detach.is_lost())
    return false;
  P* const pp = take_idle_locked(v->proc());
  if (pp == nullptr) return false;
  attach_locked(pp, v);
  return true;
}

// True: it computes.
bool look_after(M* v, std::int64_t now_ns) noexcept {
  G* const gp = v->curg();  // Gs are never unmapped
  if (gp == nullptr || gp->status() != g_status::running || !v->detach.is_lost()) return false;
  if (look_at(v) != os::thread_activity::running) {
    v->computes_since_ns.store(0, std::memory_order_relaxed);  // only a time
    gp->set_manner(G::kHabit, true);
    return false;
  }
  std::int64_t since_ns = v->computes_since_ns.load(std::memory_order_relaxed);  // only a time
  if (since_ns == 0) v->computes_since_ns.store(since_ns = now_ns, std::memory_order_relaxed);
  if (now_ns - since_ns < kComputeWithoutPNs) return true;
  gp->set_manner(G::kHabit, false);
  if (!reattach(v)) stop_by_signal(v, now_ns);
  return true;
}

}  // namespace

const char* install_preemption(int wanted) noexcept {
  sched.preempt_signal.store(0, std::memory_order_relaxed);  // nobody runs yet
  os::find_system_libraries();
  const int number = wanted != 0 ? wanted : os::default_preempt_signal();
  const os::signal_verdict verdict = os::install_preempt_handler(number, &on_signal);
  if (verdict != os::signal_verdict::accepted) return os::describe(verdict);
  sched.preempt_signal.store(number, std::memory_order_relaxed);
  return nullptr;
}

void stop_by_signal(M* v, std::int64_t now_ns) noexcept {
  if (!can_signal()) return;
  if (v->is_signalled.exchange(true, std::memory_order_acq_rel)) {
    if (now_ns - v->seen.signalled_ns < kAnswerNs) return;
    sched.nunanswered.fetch_add(1, std::memory_order_relaxed);  // only counted
  }
  v->seen.signalled_ns = now_ns;
  // The last look before it is sent: a thread asleep in the kernel would have its call cut short.
  if (look_at(v) != os::thread_activity::running ||
      !os::send_preempt_signal(os::process_id(), v->tid.load(std::memory_order_relaxed),
                               sched.preempt_signal.load(std::memory_order_relaxed),
                               reinterpret_cast<std::uintptr_t>(&sched))) {
    v->is_signalled.store(false, std::memory_order_relaxed);
    return;
  }
  sched.nsignals.fetch_add(1, std::memory_order_relaxed);  // only counted
}

bool look_after_lost(std::int64_t now_ns) noexcept {
  M* some[kLookAtOnce];
  std::uint32_t n = 0;
  {
    locked l;
    while (n < kLookAtOnce && n < sched.mlost.size()) {  // round robin
      M* const v = sched.mlost.pop_front();
      sched.mlost.push_back(v);
      some[n++] = v;
    }
  }
  bool any = false;
  for (std::uint32_t i = 0; i < n; ++i) any |= look_after(some[i], now_ns);
  return any;
}

bool end_slice_by_force(P* pp, std::int64_t now_ns) noexcept {
  if (!can_signal() || !may_hold_another_thread()) return false;
  M* const v = pp->m.load(std::memory_order_acquire);  // Ms are never unmapped
  if (v == nullptr) return false;
  const bool is_asleep = look_at(v) == os::thread_activity::asleep;
  G* gp = nullptr;
  P* const held = detach(v, kSysmonRequest, [&](P* p) {
    gp = v->curg();
    return p == pp && may_lose(v, g_status::running);
  });
  if (held == nullptr) return false;
  gp->set_manner(G::kHabit, is_asleep);
  {
    locked l;
    if (is_still_out_locked(v, held)) {
      list_lost_locked(v);
      v->was_slice_over = true;
      v->computes_since_ns.store(now_ns - kComputeWithoutPNs, std::memory_order_relaxed);
    }
    if (is_asleep) sched.nstopped_first = static_cast<std::uint32_t>(sched.stopped.size());
  }
  sched.npreempted.fetch_add(1, std::memory_order_relaxed);  // only counted
  hand_off(held);
  if (!is_asleep) stop_by_signal(v, now_ns);
  return true;
}

bool take_from_sleeper(P* pp) noexcept {
  M* const v = pp->m.load(std::memory_order_acquire);  // Ms are never unmapped
  if (v == nullptr || v->detach.is_inside() || look_at(v) != os::thread_activity::asleep)
    return false;
  G* gp = nullptr;
  P* const held = detach(v, kSysmonRequest, [&](P* p) {
    gp = v->curg();
    return p == pp && may_lose(v, g_status::running) &&
           look_at(v) == os::thread_activity::asleep;  // not: it slept, and now it computes
  });
  if (held == nullptr) return false;
  gp->set_manner(G::kHabit, true);
  {
    locked l;
    if (is_still_out_locked(v, held)) list_lost_locked(v);
    sched.nstopped_first = static_cast<std::uint32_t>(sched.stopped.size());
  }
  sched.nhandoffs.fetch_add(1, std::memory_order_relaxed);  // only counted
  hand_off(held);
  return true;
}

}  // namespace weft::sched
