// scavenge.cpp: see scavenge.hpp.
//
// A parked goroutine's stack belongs to whoever will ready() it. The scavenger takes it for a moment by setting kTrimming beside
// the status `waiting`; ready() waits until it is gone. What lies at or above the saved stack pointer is live and stays.
#include "sched/scavenge.hpp"

#include "os/clock.hpp"
#include "rt/g_slab.hpp"
#include "sched/hold.hpp"
#include "sched/state.hpp"

namespace weft::sched {

namespace {

constexpr std::int64_t kLongWaitNs = 10 * os::kSecond;
constexpr std::size_t kStacksPerPass = 1000;
constexpr std::size_t kTrimsPerPass = 10'000;

bool is_anything_left = false;

struct pass {
  std::int64_t now_ns;
  std::size_t ntrimmed = 0;
};

void trim_one(G* gp, void* arg) {
  auto* const p = static_cast<pass*>(arg);
  if (p->ntrimmed >= kTrimsPerPass || !hold_waiting(gp)) return;
  // It is a goroutine (a plain thread's proxy is never `waiting`), and its fields stay as they are until we let go.
  rt::g_cold& cold = gp->cold();
  // relaxed: sysmon ends before the epoch moves on
  const bool is_alive = gp->epoch == sched.epoch.load(std::memory_order_relaxed);
  if (is_alive && !cold.was_trimmed && p->now_ns - cold.waits_since_ns >= kLongWaitNs) {
    if (stack::was_deeper(gp->stack, gp->context.sp)) stack::trim(gp->stack, gp->context.sp);
    cold.was_trimmed = true;
    ++p->ntrimmed;
  }
  let_go_waiting(gp);
}

}  // namespace

void scavenge(std::int64_t now_ns) noexcept {
  if (!sched.set.debug.scavenge) return;
  pass p{now_ns};
  rt::for_each_g(&trim_one, &p);
  const std::size_t nstacks = stack::scavenge(kStacksPerPass);
  is_anything_left = nstacks + p.ntrimmed != 0;
}

bool has_scavenging_left() noexcept { return is_anything_left; }

}  // namespace weft::sched
