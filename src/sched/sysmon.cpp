// sysmon.cpp: see sysmon.hpp.
//
// It looks round every 20 us while something happens, and after 50 looks without anything to do ever more seldom, up to every 10 ms.
// When all Ps have been idle for a while it sleeps until somebody runs again (rouse_sysmon): an idle program uses no CPU.
// At each look it
//   takes Ps from threads that sit in blocking() while work waits,
//   ends the slice of goroutines that have run for 10 ms while others wait,
//   now and then reads the machine's CPU limit, and gives unused stacks back.
#include "sched/sysmon.hpp"

#include <algorithm>

#include "os/cgroup.hpp"
#include "os/clock.hpp"
#include "os/cpu_count.hpp"
#include "os/membarrier.hpp"
#include "sched/deadlock.hpp"
#include "sched/procs.hpp"
#include "sched/scavenge.hpp"
#include "sched/wake.hpp"
#include "sched/world.hpp"

namespace weft::sched {

namespace {

constexpr std::int64_t kShortestNs = 20 * os::kMicrosecond;
constexpr std::int64_t kLongestNs = kSysmonNapNs;
constexpr std::int64_t kLongestDeferralNs = os::kMillisecond;
constexpr int kLooksBeforeBackoff = 50;
constexpr int kIdleLooksBeforeSleep = 5;
constexpr int kEnoughLooks = 1000;  // more need not be counted
constexpr std::int64_t kSliceNs = 10 * os::kMillisecond;
constexpr std::int64_t kHousekeepingNs = os::kSecond;
constexpr std::int64_t kLongestRecheckNs = 10 * os::kSecond;

// The P of a thread inside blocking(). False: it came back in time.
bool retake(P* pp) noexcept {
  M* const v = pp->m.load(std::memory_order_acquire);  // Ms are never unmapped
  if (v == nullptr || !v->detach.request(kSysmonRequest)) return false;
  os::heavy_barrier();
  P* const held = v->proc();  // read while the request stands
  // The goroutine is asked, not the P: it may have parked inside blocking(), and another one runs there now. If the M comes in while
  // we look, what we saw is old, and the CAS that follows fails.
  const auto is_still_away = [&] {
    const G* const gp = v->curg();  // Gs are never unmapped
    return held == pp && gp != nullptr && gp->status() == g_status::syscall;
  };
  if (!v->detach.request_settle(kSysmonRequest, is_still_away)) return false;
  pp->m.store(nullptr, std::memory_order_relaxed);  // ours until hand_off
  sched.nhandoffs.fetch_add(1, std::memory_order_relaxed);
  hand_off(pp);
  return true;
}

// It has been in one blocking() call since our last look, and somebody would have use for the P: at once if its own queue has
// work, or if no P is idle or looking; after a slice in any case, so that the thread can be counted as blocked.
bool should_retake(P* pp, std::int64_t now_ns) noexcept {
  const std::uint32_t tick = pp->syscalltick.load(std::memory_order_relaxed);
  if (tick != pp->seen.syscalltick) {
    pp->seen.syscalltick = tick;
    pp->seen.syscall_since_ns = now_ns;
    return false;
  }
  const bool others_idle = sched.npidle.load(std::memory_order_relaxed) +
                               sched.nspinning.load(std::memory_order_relaxed) >
                           0;
  return !pp->queue.is_empty() || sched.nrunq.load(std::memory_order_relaxed) != 0 ||
         !others_idle || now_ns - pp->seen.syscall_since_ns >= kSliceNs;
}

void watch_slice(P* pp, std::int64_t now_ns) noexcept {
  const std::uint32_t tick = pp->schedtick.load(std::memory_order_relaxed);
  if (tick != pp->seen.schedtick) {
    pp->seen.schedtick = tick;
    pp->seen.sched_since_ns = now_ns;
    return;
  }
  if (now_ns - pp->seen.sched_since_ns < kSliceNs) return;
  if (pp->queue.is_empty() && sched.nrunq.load(std::memory_order_relaxed) == 0) return;
  if (M* const mp = pp->m.load(std::memory_order_acquire)) mp->detach.ask_attention();
  pp->seen.sched_since_ns = now_ns;
}

// A wake-up that was left out, since the P would soon take the goroutine itself, and it did not. True: one was left out since the
// last look, so the next should come soon.
bool watch_deferral(P* pp) noexcept {
  const std::uint32_t now = pp->deferral.load(std::memory_order_relaxed);
  if (now != pp->seen.deferral) {
    pp->seen.deferral = now;
    return true;
  }
  if (is_deferred(now) && pp->queue.has_next()) {
    pp->was_defer_wrong.store(true, std::memory_order_relaxed);
    wake_one();
  }
  return false;
}

// True: there was something to do.
bool look(std::int64_t now_ns, bool& any_deferral) noexcept {
  bool did_something = false;
  any_deferral = false;
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < n; ++i) {
    P* const pp = p_at(i);
    const M* const mp = pp->m.load(std::memory_order_acquire);  // Ms and Gs are never unmapped
    if (mp == nullptr) continue;
    if (const G* const gp = mp->curg(); gp != nullptr && gp->status() == g_status::syscall) {
      if (should_retake(pp, now_ns) && retake(pp)) did_something = true;
    }
    watch_slice(pp, now_ns);  // also for one that makes one short blocking() call after the other
    any_deferral |= watch_deferral(pp);
  }
  return did_something;
}

// Follows the machine: someone may have changed our CPU limit or affinity.
void follow_cpu_limit() noexcept {
  if (!sched.set.debug.update_max_procs) return;
  {
    locked l;
    if (sched.is_max_procs_fixed) return;
  }
  const unsigned n = std::min(os::default_procs(), kMaxProcs);
  if (n != sched.nprocs.load(std::memory_order_relaxed)) resize(n, false);
}

bool is_all_idle() noexcept {
  return sched.npidle.load(std::memory_order_seq_cst) ==
         sched.nprocs.load(std::memory_order_relaxed);
}

class watch {
 public:
  void run() noexcept {
    while (!sched.is_quitting.load(std::memory_order_acquire)) {
      const bool was_roused = sleep();
      const std::int64_t now_ns = os::now_ns();
      sched.coarse_ns.store(now_ns, std::memory_order_relaxed);
      if (was_roused) nquiet_ = nidle_ = 0;
      nquiet_ = look(now_ns, is_deferral_likely_) ? 0 : std::min(nquiet_ + 1, kEnoughLooks);
      nidle_ = is_all_idle() ? std::min(nidle_ + 1, kEnoughLooks) : 0;
      if (nidle_ > 1)
        nquiet_ = std::max(nquiet_, kLooksBeforeBackoff + 1);  // nothing can happen soon
      if (now_ns - housekeeping_ns_ >= kHousekeepingNs) {
        housekeeping_ns_ = now_ns;
        if (nidle_ == 0) follow_cpu_limit();  // nobody needs more or fewer Ps while none runs
        scavenge(now_ns);
      }
    }
  }

 private:
  // True: somebody woke us.
  bool sleep() noexcept {
    if (nquiet_ <= kLooksBeforeBackoff) {
      delay_ns_ = kShortestNs;
    } else {
      delay_ns_ = std::min(2 * delay_ns_, is_deferral_likely_ ? kLongestDeferralNs : kLongestNs);
    }
    if (nidle_ >= kIdleLooksBeforeSleep && delay_ns_ == kLongestNs) return sleep_until_roused();
    // Whoever has something for us that cannot wait so long wakes us.
    sched.sysmon_sleep_ns.store(delay_ns_, std::memory_order_seq_cst);
    const bool was_roused = sched.sysmon_note.sleep(os::now_ns() + delay_ns_);
    sched.sysmon_sleep_ns.store(0, std::memory_order_relaxed);
    return was_roused;
  }

  // Nothing runs. The sleep has an end only while there is something left to look at.
  bool sleep_until_roused() noexcept {
    std::int64_t deadline_ns = os::kNoDeadline;
    if (check_deadlock()) {
      recheck_ns_ = std::min(4 * recheck_ns_, kLongestRecheckNs);
      deadline_ns = os::now_ns() + recheck_ns_;
    }
    if (has_scavenging_left()) {
      const std::int64_t soon = os::now_ns() + kHousekeepingNs;
      deadline_ns = deadline_ns == os::kNoDeadline ? soon : std::min(soon, deadline_ns);
    }
    sched.sysmon_sleep_ns.store(INT64_MAX, std::memory_order_seq_cst);
    // Somebody may have begun to run before he could see that we sleep.
    const bool was_roused = is_all_idle() ? sched.sysmon_note.sleep(deadline_ns) : true;
    sched.sysmon_sleep_ns.store(0, std::memory_order_relaxed);
    if (was_roused) recheck_ns_ = kLongestNs;
    return was_roused;
  }

  int nquiet_ = 0;  // looks without anything to do
  int nidle_ = 0;   // looks that found all Ps idle
  bool is_deferral_likely_ = false;
  std::int64_t delay_ns_ = kShortestNs;
  std::int64_t recheck_ns_ = kLongestNs;
  std::int64_t housekeeping_ns_ = os::now_ns();
};

}  // namespace

void sysmon_main(void*) noexcept { watch().run(); }

}  // namespace weft::sched
