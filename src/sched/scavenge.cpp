// scavenge.cpp: see scavenge.hpp.
//
// A parked goroutine's stack belongs to whoever will ready() it. The scavenger takes it for a moment by setting kTrimming beside
// the status `waiting`; ready() waits until it is gone. What lies at or above the saved stack pointer is live and stays.
//
// Who has waited for long? Every ten seconds those that wait get a mark beside their status. It goes when they are woken, so whoever has it ten
// seconds later has waited ever since. A round reads one line of each G, and they lie side by side: some 10 ms for a million. (When each was
// asked when it had gone to sleep, which it keeps in its stack, that took 300 ms of every second: a sixth of what a million sleepers used.)
#include "sched/scavenge.hpp"

#include "base/atomics.hpp"
#include "os/clock.hpp"
#include "rt/g_slab.hpp"
#include "sched/hold.hpp"
#include "sched/state.hpp"

namespace weft::sched {

namespace {

constexpr std::size_t kStacksPerPass = 1000;
constexpr std::size_t kTrimsPerPass = 10'000;

// Sysmon's; a test may come by at the same time.
constinit base::relaxed<std::int64_t> next_round_ns = 0;
constinit base::relaxed<std::int64_t> next_pass_ns = os::kNoDeadline;

void trim(G* gp) noexcept {
  if (!hold_waiting(gp)) return;
  // It is a goroutine (a plain thread's proxy is never `waiting`), and its fields stay as they are until we let go.
  // relaxed: sysmon ends before the epoch moves on
  const bool is_alive = gp->epoch == sched.epoch.load(std::memory_order_relaxed);
  if (is_alive && stack::was_deeper(gp->stack, gp->context.sp))
    stack::trim(gp->stack, gp->context.sp);
  let_go_waiting(gp, rt::kTrimmed);
}

// Those that the last round has marked. `n`: how many it were, kTrimsPerPass at most.
void trim_if_settled(G* gp, void* n) {
  auto& ntrimmed = *static_cast<std::size_t*>(n);
  if (!gp->status_word.is_settled()) return;
  if (ntrimmed == kTrimsPerPass) return;
  trim(gp);
  ++ntrimmed;
}

void mark_if_waiting(G* gp, void* n) {
  // Failed: it goes on, or somebody looks at it; the next round will see.
  if (gp->status_word.settle()) ++*static_cast<std::size_t*>(n);
}

// False: there are more to trim than one pass may. Marking comes after that, or some would be trimmed that have just gone to sleep.
bool make_round(std::size_t& nmarked) noexcept {
  std::size_t ntrimmed = 0;
  rt::for_each_g(&trim_if_settled, &ntrimmed);
  if (ntrimmed == kTrimsPerPass) return false;
  rt::for_each_g(&mark_if_waiting, &nmarked);
  return true;
}

}  // namespace

void scavenge(std::int64_t now_ns) noexcept {
  if (!sched.set.debug.scavenge) return;
  std::size_t nmarked = 0;
  if (now_ns >= next_round_ns) {
    const bool is_whole = make_round(nmarked);
    const std::int64_t next_ns = is_whole ? now_ns + kLongWaitNs : now_ns;
    next_round_ns = next_ns;
    next_pass_ns = is_whole && nmarked == 0 ? os::kNoDeadline : next_ns;
  }
  if (stack::scavenge(kStacksPerPass) != 0) next_pass_ns = now_ns;
}

std::int64_t next_scavenge_ns() noexcept { return next_pass_ns; }

}  // namespace weft::sched
