// sysmon.cpp: see sysmon.hpp.
//
// It looks round every 20 us while something happens, and after 50 looks without anything to do ever more seldom, up to every 10 ms.
// When all Ps have been idle for a while it sleeps until somebody runs again (rouse_sysmon): an idle program uses no CPU.
// At each look it
//   takes Ps from threads that sit in blocking() while work waits,
//   takes Ps from threads that sleep in the kernel without having said so, while work waits,
//   ends the slice of goroutines that have run for 10 ms while others wait: asks first, and if that does not help stops them,
//   looks after those that lost their P and compute on,
//   looks whether a wake-up was lost (conserve.hpp),
//   now and then reads the machine's CPU limit, and gives unused stacks back.
//
// What it reads of others without L is a hint, hence relaxed: what is done about it is decided by the detach handshake, or under L.
#include "sched/sysmon.hpp"

#include <algorithm>

#include "os/cgroup.hpp"
#include "os/clock.hpp"
#include "os/cpu_count.hpp"
#include "os/thread_watch.hpp"
#include "sched/borrow.hpp"
#include "sched/conserve.hpp"
#include "sched/deadlock.hpp"
#include "sched/detach.hpp"
#include "sched/netpoll.hpp"
#include "sched/preempt.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/scavenge.hpp"
#include "sched/timers.hpp"
#include "sched/wake.hpp"
#include "sched/world.hpp"

namespace weft::sched {

namespace {

constexpr std::int64_t kShortestNs = 20 * os::kMicrosecond;
constexpr std::int64_t kLongestNs = kSysmonNapNs;
constexpr std::int64_t kLongestDeferralNs = os::kMillisecond;
constexpr std::int64_t kSuspectNs = 250 * os::kMicrosecond;
constexpr std::int64_t kOldSuspectNs =
    2 * os::kMillisecond;  // they compute, as they did the last times
constexpr int kSuspectLooks = 20;
constexpr std::int64_t kWishShare =
    8;  // whoever can wait for so long is seen to in an eighth of it
constexpr int kLooksBeforeBackoff = 50;
constexpr int kIdleLooksBeforeSleep = 5;
constexpr int kEnoughLooks = 1000;  // more need not be counted
constexpr std::int64_t kSliceNs = 10 * os::kMillisecond;
constexpr std::int64_t kHousekeepingNs = os::kSecond;
constexpr std::int64_t kLongestRecheckNs = 10 * os::kSecond;
// With WEFT_DEBUG=conserve=1: a wake-up that was lost while all were idle has roused nobody.
constexpr std::int64_t kConserveNs = os::kSecond;

// The P of a thread inside blocking(). False: it came back in time.
bool retake(P* pp) noexcept {
  M* const v = pp->m.load(std::memory_order_acquire);  // Ms are never unmapped
  if (v == nullptr) return false;
  // The goroutine is asked, not the P: it may have parked inside blocking(), and another one runs there now.
  G* gp = take_kept_from(v, pp, g_status::syscall);  // it began on credit, and its loan ended then
  if (gp == nullptr) {
    P* const held = detach(v, kSysmonRequest, [&](P* p) {
      gp = v->curg();  // Gs are never unmapped
      return p == pp && gp != nullptr && gp->status() == g_status::syscall;
    });
    if (held == nullptr) return false;
  }
  gp->set_manner(G::kBlocksLong, true);
  sched.nhandoffs.fetch_add(1, std::memory_order_relaxed);  // only counted
  hand_off(pp);
  return true;
}

// Something waits that could run on pp.
bool is_pp_wanted(const P* pp) noexcept {
  return is_deferring(pp) || !pp->queue.is_empty() ||
         sched.nrunq.load(std::memory_order_relaxed) != 0;  // a hint
}

// A P is idle, or looks for work.
bool is_any_free() noexcept {
  // relaxed: hints
  return sched.npidle.load(std::memory_order_relaxed) +
             sched.nspinning.load(std::memory_order_relaxed) >
         0;
}

// It has been in one blocking() call since our last look, and somebody would have use for the P: at once if its own queue has
// work, or if no P is idle or looking; after a slice in any case, so that the thread can be counted as blocked.
bool should_retake(P* pp, std::int64_t now_ns) noexcept {
  // relaxed, all: hints; detach() asks again
  const std::uint32_t tick = pp->syscalltick.load(std::memory_order_relaxed);
  if (tick != pp->seen.syscalltick) {
    pp->seen.syscalltick = tick;
    pp->seen.syscall_since_ns = now_ns;
    return false;
  }
  return is_pp_wanted(pp) || !is_any_free() || now_ns - pp->seen.syscall_since_ns >= kSliceNs;
}

// pp's goroutine has run since the last look: it may be asleep, or have had its slice.
// are_short_of_ps: somebody waits, be it in another P's queue, and no P is free. To whoever computes that is nothing, but one that sleeps
// keeps from them a processor that nobody uses. One is enough: whether they are still short of Ps shows at the next look.
void watch_slice(P* pp, std::int64_t now_ns, bool& are_short_of_ps, findings& found) noexcept {
  const std::uint32_t tick = pp->schedtick.load(std::memory_order_relaxed);  // a hint
  // 0: never looked at, or without a thread at the last look. What it has now began since then.
  if (tick != pp->seen.schedtick || pp->seen.sched_since_ns == 0) {
    pp->seen.schedtick = tick;
    pp->seen.sched_since_ns = now_ns;
    pp->seen.was_asked = false;
    return;
  }
  if (!is_pp_wanted(pp)) {
    if (are_short_of_ps && !sched.is_timeless.load(std::memory_order_relaxed) &&  // fixed at start
        take_from_sleeper(pp)) {
      found.did_something = true;
      are_short_of_ps = false;
    }
    return;
  }
  // Should nobody have seen it in time: README.md, [idle.no_lost_wake] 4. Of one at the front watch_deferral() knows more.
  if (pp->queue.ring_size() != 0) wake_one();
  if (sched.is_timeless.load(std::memory_order_relaxed)) return;  // fixed at start
  found.any_suspect = true;
  if (take_from_sleeper(pp)) {
    found.did_something = true;
  } else if (now_ns - pp->seen.sched_since_ns < kSliceNs) {
    return;
  } else if (!std::exchange(pp->seen.was_asked, true)) {
    if (M* const mp = pp->m.load(std::memory_order_acquire)) {
      mp->detach.ask_attention();
      pp->seen.asked_cpu = begin_to_watch(mp);
    }
  } else {
    end_slice_by_force(pp, now_ns);
    pp->seen.was_asked = false;
  }
}

// pp's holder computes on, and has somebody handy: into the global queue with it. False: the holder is inside the runtime, or was; then it
// sees to it itself.
// All that the holder is without its P is under L. If it makes a call meanwhile it comes to L, and finds that it has never lost it: so also one
// that must not (no_preempt) or that has it on loan.
bool give_away_handy(P* pp) noexcept {
  M* const v = pp->m.load(std::memory_order_acquire);  // Ms are never unmapped
  if (v == nullptr || !v->detach.request(kSysmonRequest)) return false;
  os::heavy_barrier();
  dawdle(window::settling);
  {
    locked l;
    const P* const held = v->proc();  // read while the request stands
    // By the hint, and not by pp->handy: v may come in as we look, and then it is v's to write. If it does not, we see what it left.
    const auto has_one = [&] { return held == pp && is_deferring(pp); };
    if (!v->detach.request_settle(kSysmonRequest, has_one)) return false;
    put_global_locked(take_handy(pp));
    v->detach.attach();
  }
  pp->was_defer_wrong.store(true, std::memory_order_relaxed);  // a hint for its holder
  wake_one();
  return true;
}

// Somebody was kept handy, since the P would soon take it itself, and it did not. True: there was one since the last look, so the next
// should come soon.
bool watch_deferral(P* pp, std::int64_t now_ns) noexcept {
  const std::uint32_t now = pp->deferral.load(std::memory_order_relaxed);  // a hint
  if (now != pp->seen.deferral) {
    pp->seen.deferral = now;
    pp->seen.deferral_since_ns = now_ns;
    return true;
  }
  return is_deferring(pp) && !give_away_handy(pp);
}

// Somebody is kept handy of whom the last look did not know.
bool is_any_newly_deferring() noexcept {
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  for (std::uint32_t i = 0; i < n; ++i) {
    const P* const pp = p_at(i);
    if (is_deferring(pp) && pp->deferral.load(std::memory_order_relaxed) != pp->seen.deferral)
      return true;  // a hint
  }
  return false;
}

// Somebody was woken from outside, and nobody has come by a P for it since the last look.
bool press_urgent(bool was_waiting) noexcept {
  if (sched.nurgent.load(std::memory_order_relaxed) == 0) return false;  // a hint
  if (!was_waiting) return true;
  M* woken = nullptr;
  {
    locked l;
    if (!sched.urgent.empty()) woken = wake_borrower_locked();
  }
  wake_m(woken);
  return true;
}

// Follows the machine: someone may have changed our CPU limit or affinity.
void follow_cpu_limit() noexcept {
  if (!sched.set.debug.update_max_procs) return;
  {
    locked l;
    if (sched.is_max_procs_fixed) return;
  }
  const unsigned n = std::min(os::default_procs(), kMaxProcs);
  // relaxed: a hint; resize() asks again
  if (n != sched.nprocs.load(std::memory_order_relaxed)) resize(n, false);
}

bool is_all_idle() noexcept {
  // nprocs, relaxed: who changes it rouses us
  return sched.npidle.load(std::memory_order_seq_cst) ==
         sched.nprocs.load(std::memory_order_relaxed);
}

class watch {
 public:
  void run() noexcept {
    while (!sched.is_quitting.load(std::memory_order_acquire)) {  // only a flag
      was_roused_ = sleep();
      const std::int64_t now_ns = os::now_ns();
      sched.coarse_ns.store(now_ns, std::memory_order_relaxed);  // a hint for all
      if (was_roused_) nidle_ = 0;
      found_ = look_at_all(now_ns, found_);
      is_urgent_waiting_ = press_urgent(is_urgent_waiting_);
      is_polling_due_ = polling_.look(now_ns);
      is_suspicious_ = conservation_.look(now_ns);
      ensure_watch();  // at the cap of threads there may have been nobody to watch
      nquiet_ = found_.did_something ? 0 : std::min(nquiet_ + 1, kEnoughLooks);
      nidle_ = is_all_idle() && !is_suspicious_ ? std::min(nidle_ + 1, kEnoughLooks) : 0;
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
  void choose_delay() noexcept {
    // Whoever woke us has only begun: what there is to do about it shows at the next look, which must not be one as late as the
    // last. (Calls of 3 ms that wake us one after the other were seen once each, and never again.)
    if (nquiet_ == 0 || was_roused_) {
      delay_ns_ = std::clamp(sched.sysmon_wish_ns.load(std::memory_order_relaxed) / kWishShare,
                             kShortestNs, kLongestNs);  // a hint
    } else if (nquiet_ > kLooksBeforeBackoff || delay_ns_ > kShortestNs) {
      delay_ns_ *= 2;
    }
    std::int64_t longest_ns = kLongestNs;
    if (found_.any_deferral) longest_ns = kLongestDeferralNs;
    if (found_.did_something) nsuspect_ = 0;
    if (found_.any_suspect || is_urgent_waiting_) {
      longest_ns = nsuspect_ < kSuspectLooks ? kSuspectNs : kOldSuspectNs;
      nsuspect_ = std::min(nsuspect_ + 1, kEnoughLooks);
    }
    // Soon: the longer it has computed, the more likely it is about to enter the kernel when the signal comes.
    if (found_.any_without_p) longest_ns = std::min(longest_ns, kSuspectNs);
    if (is_polling_due_ || is_suspicious_) longest_ns = std::min(longest_ns, kLongestDeferralNs);
    delay_ns_ = std::min(delay_ns_, longest_ns);
  }

  // True: somebody woke us.
  bool sleep() noexcept {
    choose_delay();
    if (nidle_ >= kIdleLooksBeforeSleep && delay_ns_ == kLongestNs) return sleep_until_roused();
    // Whoever has something for us that cannot wait so long wakes us. But for what came before that could be seen.
    sched.sysmon_sleep_ns.store(delay_ns_, std::memory_order_seq_cst);
    if (delay_ns_ > kLongestDeferralNs && is_any_newly_deferring()) delay_ns_ = kLongestDeferralNs;
    const bool was_roused = sched.sysmon_note.sleep(os::now_ns() + delay_ns_);
    sched.sysmon_sleep_ns.store(0,
                                std::memory_order_relaxed);  // a late look only wakes us once more
    return was_roused;
  }

  // Nothing runs. The sleep has an end only while there is something left to look at.
  bool sleep_until_roused() noexcept {
    std::int64_t deadline_ns = os::kNoDeadline;
    if (check_deadlock()) {
      recheck_ns_ = std::min(4 * recheck_ns_, kLongestRecheckNs);
      deadline_ns = os::now_ns() + recheck_ns_;
    }
    if (const std::int64_t next_ns = next_scavenge_ns(); next_ns != os::kNoDeadline) {
      const std::int64_t then_ns = std::max(next_ns, os::now_ns() + kHousekeepingNs);
      deadline_ns = deadline_ns == os::kNoDeadline ? then_ns : std::min(then_ns, deadline_ns);
    }
    if (sched.set.debug.conserve) {
      const std::int64_t soon = os::now_ns() + kConserveNs;
      deadline_ns = deadline_ns == os::kNoDeadline ? soon : std::min(soon, deadline_ns);
    }
    sched.sysmon_sleep_ns.store(INT64_MAX, std::memory_order_seq_cst);
    // Somebody may have begun to run before he could see that we sleep.
    const bool was_roused = is_all_idle() ? sched.sysmon_note.sleep(deadline_ns) : true;
    sched.sysmon_sleep_ns.store(0,
                                std::memory_order_relaxed);  // a late look only wakes us once more
    if (was_roused) recheck_ns_ = kLongestNs;
    return was_roused;
  }

  bool was_roused_ = false;
  int nquiet_ = 0;    // looks without anything to do
  int nidle_ = 0;     // looks that found all Ps idle
  int nsuspect_ = 0;  // looks with a suspicion since one was right
  findings found_;
  bool is_urgent_waiting_ = false;
  polling_watch polling_;
  bool is_polling_due_ = false;
  conservation_watch conservation_;
  bool is_suspicious_ = false;
  std::int64_t delay_ns_ = kShortestNs;
  std::int64_t recheck_ns_ = kLongestNs;
  std::int64_t housekeeping_ns_ = os::now_ns();
};

}  // namespace

// Only what lasts from look to look is a shortage: a queue may be filled for a microsecond.
findings look_at_all(std::int64_t now_ns, const findings& last) noexcept {
  findings found;
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  found.none_free = !is_any_free() && anything_queued();
  bool are_short_of_ps = found.none_free && last.none_free;
  for (std::uint32_t i = 0; i < n; ++i) {
    P* const pp = p_at(i);
    const M* const mp = pp->m.load(std::memory_order_acquire);  // Ms and Gs are never unmapped
    if (mp == nullptr) {
      pp->seen.sched_since_ns = 0;
      continue;
    }
    if (const G* const gp = mp->curg(); gp != nullptr && gp->status() == g_status::syscall) {
      if (should_retake(pp, now_ns) && retake(pp)) found.did_something = true;
    }
    if constexpr (rt::kPreempts)
      watch_slice(pp, now_ns, are_short_of_ps,
                  found);  // also for one that makes one short blocking() call after the other
    found.any_deferral |= watch_deferral(pp, now_ns);
  }
  found.any_without_p = look_after_lost(now_ns);
  return found;
}

void sysmon_main(void*) noexcept { watch().run(); }

}  // namespace weft::sched
