// preempt.cpp: see preempt.hpp.
//
// What runs in the handler takes no lock but L, which this thread cannot hold: it is outside the runtime.
#include "sched/preempt.hpp"

#include <algorithm>
#include <utility>

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
constexpr std::uint8_t kSpareTimes = 8;    // not stopped in the C library so many times
constexpr std::uint8_t kLooksOffCpu = 16;  // where nothing better is known
constexpr std::int64_t kLongestBurstNs = 4 * os::kMillisecond;  // beyond, it is not waited for
constexpr std::uint32_t kAwakeAtOnce = 64;  // so many that are lost are looked at each time
constexpr std::uint32_t kAsleepAtOnce = 8;  // they come in by themselves when they are awake

void on_signal(const os::interrupted& at) {
  M* const mp = current_m();
  if (mp == nullptr) return;  // not one of ours
  // A stranger's may have swallowed ours, so the flag decides. acquire: with the exchange of the sender
  const bool is_wanted = mp->is_signalled.exchange(false, std::memory_order_acq_rel);
  // One of ours may find the flag down, when the one before it came late: it has cut a call short all the same.
  if (at.was_call_cut_short && (is_wanted || at.is_ours))
    sched.ninterrupted.fetch_add(1, std::memory_order_relaxed);  // only counted
  if (!is_wanted) return;
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

// v waited for a CPU at the last look as well, and has computed in between without going to sleep. Where the system does not count that,
// one whose clock has moved from look to look is believed after a few.
bool has_only_computed(M* v, std::int64_t cpu_ns) noexcept {
  const bool has_moved = cpu_ns != std::exchange(v->seen.off_cpu, cpu_ns);
  const std::int64_t nsleeps = v->seen.eye.nsleeps();
  if (nsleeps >= 0) return std::exchange(v->seen.nsleeps, nsleeps) == nsleeps && has_moved;
  if (!has_moved || ++v->seen.noff_cpu < kLooksOffCpu) return false;
  v->seen.noff_cpu = 0;
  return true;
}

// v uses a CPU at this moment: its clock moves while we look. One that was woken in the kernel and waits for a CPU looks as if it
// computed, but its call is not over yet: poll() and recv() would end with EINTR though their time is up.
// Whoever shares our own CPU is never seen on it.
bool is_on_cpu(M* v) noexcept {
  const std::int64_t before = v->seen.eye.cpu_ns();
  if (look_at(v) != os::thread_activity::running) {
    v->seen.noff_cpu = 0;
    return false;
  }
  const std::int64_t after = v->seen.eye.cpu_ns();
  return after != before || has_only_computed(v, after);
}

void saw_asleep(M* v) noexcept {
  v->computes_since_cpu.store(0, std::memory_order_relaxed);  // only a time
  v->seen.noff_cpu = 0;
  const std::int64_t cpu = v->seen.eye.cpu_ns();
  if (cpu == v->seen.asleep_cpu) return;  // the same sleep
  const std::int64_t burst = v->seen.asleep_cpu < 0 ? 0 : cpu - v->seen.asleep_cpu;
  v->seen.asleep_cpu = cpu;
  if (burst == 0 || burst > kLongestBurstNs) {
    v->seen.short_burst = v->seen.long_burst = 0;
    return;
  }
  // A sleep that was not seen makes one long burst out of two: so the shortest counts as well.
  const std::int64_t least = v->seen.short_burst == 0 ? burst : v->seen.short_burst;
  v->seen.short_burst = std::min(burst, least + least / 8);
  v->seen.long_burst = std::max(burst, v->seen.long_burst - v->seen.long_burst / 8);
}

// It has computed about as long as it mostly does, and may be on its way into the kernel: a signal might meet it there.
bool is_about_to_sleep(const M* v, std::int64_t cpu) noexcept {
  const std::int64_t now = cpu - v->seen.asleep_cpu;
  return now > v->seen.short_burst / 2 && now < 2 * v->seen.long_burst;
}

// False: not now. Whoever waited here for a reader of stderr would leave all others unwatched.
bool say_that_the_cap_is_reached(std::size_t nstopped) noexcept {
  os::text t;
  if (nstopped != 0) {
    t << "weft: " << nstopped << " goroutines stopped in user code hold all max_threads ("
      << sched.set.max_threads << "); call weft::checkpoint() in long loops, or raise it\n";
  } else {
    t << "weft: calls that block hold all max_threads (" << sched.set.max_threads
      << "), so long loops are not stopped; call weft::checkpoint() in them, or raise it\n";
  }
  return os::write_if_room(os::kStderr, t.view());
}

// At the cap one that is stopped may take turns with another, since that needs no new thread (hand_off).
bool may_hold_another_thread() noexcept {
  std::size_t nstopped;
  {
    locked l;
    if (!is_near_thread_cap_locked()) return true;
    nstopped = sched.stopped.size();
  }
  if (!sched.was_cap_said) sched.was_cap_said = say_that_the_cap_is_reached(nstopped);
  return nstopped != 0;
}

// An idle P for one that computes without. True: it has one.
bool reattach(M* v) noexcept {
  if (sched.npidle.load(std::memory_order_relaxed) == 0) return false;  // a hint
  locked l;
  if (!is_listed_locked(v) || v->waits != rt::m_wait::none || !v->detach.is_lost()) return false;
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
    saw_asleep(v);
    gp->set_manner(G::kHabit, true);
    return false;
  }
  // By its own clock: one that waits for a CPU uses none.
  const std::int64_t cpu_ns = v->seen.eye.cpu_ns();
  std::int64_t since_ns = v->computes_since_cpu.load(std::memory_order_relaxed);  // only a time
  // relaxed: only a time
  if (since_ns == 0) v->computes_since_cpu.store(since_ns = cpu_ns, std::memory_order_relaxed);
  if (cpu_ns - since_ns < kComputeWithoutPNs) return true;
  gp->set_manner(G::kHabit, false);
  if (!reattach(v) && !is_about_to_sleep(v, cpu_ns)) stop_by_signal(v, now_ns);
  return true;
}

// The goroutine that v runs, and pp, its P, in our hands; or null. `still` is asked when the barrier has taken its time.
template <class Still>
G* take_from(M* v, P* pp, Still&& still) noexcept {
  if (G* const gp = take_kept_from(v, pp, g_status::running)) return gp;
  G* gp = nullptr;
  P* const held = detach(v, kSysmonRequest, [&](P* p) {
    gp = v->curg();
    return p == pp && may_lose(v, g_status::running) && still();
  });
  return held != nullptr ? gp : nullptr;
}

// One that was sent has not come yet, and another would come beside it. The kernel sees to that itself but with a real-time signal: a thread that
// has it blocked for a second would have 200 of them, out of what all of the user's processes may have. Only sysmon sends any, so that none is
// pending stays true until it does. Where the system does not say, one that was answered is not: no more is sent until it is.
bool would_queue_up(const M* v, bool was_signalled) noexcept {
  const int number = sched.preempt_signal.load(std::memory_order_relaxed);  // fixed while running
  return os::does_queue_up(number) && v->seen.eye.has_pending(number).value_or(was_signalled);
}

// The next ones of those in the list, round robin.
std::uint32_t take_turns_locked(base::linked_list<M, &M::lost_link>& list, std::uint32_t most,
                                M** out) noexcept {
  const auto limit = std::min(most, static_cast<std::uint32_t>(list.size()));
  std::uint32_t n = 0;
  while (n < limit) {
    M* const next = list.pop_front();
    if (next == nullptr) break;
    list.push_back(next);
    out[n++] = next;
  }
  return n;
}

// Into the other list, if it is still without a P.
void move_locked(M* v, bool is_awake) noexcept {
  auto& from = is_awake ? sched.lost_asleep : sched.lost_awake;
  if (!from.contains(v)) return;
  from.remove(v);
  (is_awake ? sched.lost_awake : sched.lost_asleep).push_back(v);
}

}  // namespace

const char* install_preemption(int wanted) noexcept {
  sched.preempt_signal.store(0, std::memory_order_relaxed);  // nobody runs yet
  os::find_system_libraries();
  const int number = wanted != 0 ? wanted : os::default_preempt_signal();
  const os::signal_verdict verdict = os::install_preempt_handler(number, &on_signal);
  if (verdict != os::signal_verdict::accepted) return os::describe(verdict);
  sched.preempt_signal.store(number, std::memory_order_relaxed);  // nobody runs yet
  return nullptr;
}

void stop_by_signal(M* v, std::int64_t now_ns) noexcept {
  if (!can_signal()) return;
  const bool was_signalled =
      v->is_signalled.load(std::memory_order_relaxed);  // only sysmon sets it
  if (was_signalled && now_ns - v->seen.signalled_ns < kAnswerNs) return;
  const bool is_to_come = would_queue_up(v, was_signalled);
  // The last look before it is sent: a thread in the kernel would have its call cut short.
  if (!is_on_cpu(v)) return;
  if (v->is_signalled.exchange(true, std::memory_order_acq_rel))
    sched.nunanswered.fetch_add(1, std::memory_order_relaxed);  // only counted
  v->seen.signalled_ns = now_ns;
  if (is_to_come) return;
  // relaxed, both: tid was written before it ever had a P, the number before any thread was made
  if (!os::send_preempt_signal(os::process_id(), v->tid.load(std::memory_order_relaxed),
                               sched.preempt_signal.load(std::memory_order_relaxed),
                               reinterpret_cast<std::uintptr_t>(&sched))) {
    v->is_signalled.store(false, std::memory_order_relaxed);  // only a flag: nothing was sent
    return;
  }
  sched.nsignals.fetch_add(1, std::memory_order_relaxed);  // only counted
}

bool look_after_lost(std::int64_t now_ns) noexcept {
  M* some[kAwakeAtOnce + kAsleepAtOnce];
  std::uint32_t n = 0;
  {
    locked l;
    n = take_turns_locked(sched.lost_awake, kAwakeAtOnce, some);
    n += take_turns_locked(sched.lost_asleep, kAsleepAtOnce, some + n);
  }
  bool any = false;
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool is_awake = look_after(some[i], now_ns);
    any |=
        is_awake;  // also one that was sent a signal: it may be spared in the C library, and needs another
    locked l;
    move_locked(some[i], is_awake);
  }
  return any;
}

std::int64_t begin_to_watch(M* v) noexcept {
  v->seen.eye.open(v->tid.load(std::memory_order_relaxed));  // written before it ever had a P
  v->seen.nsleeps = v->seen.eye.nsleeps();
  return v->seen.off_cpu = v->seen.eye.cpu_ns();
}

void end_slice_by_force(P* pp, std::int64_t now_ns) noexcept {
  if (!can_signal() || !may_hold_another_thread()) return;
  M* const v = pp->m.load(std::memory_order_acquire);  // Ms are never unmapped
  if (v == nullptr) return;
  const bool is_asleep = look_at(v) == os::thread_activity::asleep;
  G* const gp = take_from(v, pp, [] { return true; });
  if (gp == nullptr) return;
  gp->set_manner(G::kHabit, is_asleep);
  // One that has used no CPU to speak of since it was asked sleeps, or waits for a CPU: it is looked after as any other.
  const bool has_computed =
      !is_asleep && v->seen.eye.cpu_ns() - pp->seen.asked_cpu >= kComputeWithoutPNs;
  {
    locked l;
    if (is_still_out_locked(v, pp)) {
      list_lost_locked(v, is_asleep);
      v->was_slice_over = true;
      if (has_computed)
        v->computes_since_cpu.store(v->seen.eye.cpu_ns() - kComputeWithoutPNs,
                                    std::memory_order_relaxed);  // it has had its time
    }
    if (is_asleep) sched.nstopped_first = static_cast<std::uint32_t>(sched.stopped.size());
  }
  sched.npreempted.fetch_add(1, std::memory_order_relaxed);  // only counted
  hand_off(pp);
  if (has_computed) stop_by_signal(v, now_ns);
}

bool take_from_sleeper(P* pp) noexcept {
  M* const v = pp->m.load(std::memory_order_acquire);  // Ms are never unmapped
  if (v == nullptr || v->detach.is_inside()) return false;
  // A hint, before it costs a look and a barrier: with no_preempt it may sleep for long, and keeps its P.
  if (!may_lose(v, g_status::running) || look_at(v) != os::thread_activity::asleep) return false;
  // not: it slept, and now it computes
  const auto still_asleep = [v] { return look_at(v) == os::thread_activity::asleep; };
  G* const gp = take_from(v, pp, still_asleep);
  if (gp == nullptr) return false;
  saw_asleep(v);
  gp->set_manner(G::kHabit, true);
  {
    locked l;
    if (is_still_out_locked(v, pp)) list_lost_locked(v, true);
    sched.nstopped_first = static_cast<std::uint32_t>(sched.stopped.size());
  }
  sched.nhandoffs.fetch_add(1, std::memory_order_relaxed);  // only counted
  hand_off(pp);
  return true;
}

}  // namespace weft::sched
