// alarm.cpp: see alarm.hpp.
#include "time/alarm.hpp"

#include "os/thread.hpp"
#include "rt/timer_slab.hpp"
#include "sched/bubbles.hpp"
#include "sched/crash.hpp"
#include "sched/current.hpp"
#include "sched/start.hpp"
#include "sched/timers.hpp"

namespace weft::alarms {

namespace {

void arm_node_locked(alarm& a, rt::M* mp, rt::timer* node) noexcept {
  a.node = node;
  ++a.narmed;
  a.arming = sched::arm_timer(mp, node, a.when_ns, a.bubble);
  if (a.arming == 0) sched::fatal("weft: out of memory for timers");
}

// The next multiple of its period that has not passed. False: there is no such time.
bool move_on(alarm& a, std::int64_t now_ns) noexcept {
  if (a.period_ns == 0) return false;
  const std::int64_t nmissed = (now_ns - a.when_ns) / a.period_ns;
  return !__builtin_add_overflow(a.when_ns, (nmissed + 1) * a.period_ns, &a.when_ns);
}

void fire(rt::timer* node, void* arg, std::uint64_t seq) {
  auto* const a = static_cast<alarm*>(arg);
  effect e;
  bool is_armed_again = false;
  {
    const os::lock_guard hold(a->lock);
    if (a->node == node && a->arming == seq) {
      a->arming = 0;
      a->node = nullptr;
      const std::int64_t now_ns = sched::now_ns(a->bubble);
      e = a->act(*a, now_ns);
      is_armed_again = move_on(*a, now_ns);
      if (is_armed_again) arm_node_locked(*a, sched::current_m(), node);
    }
  }
  if (!is_armed_again) rt::release_timer(node);
  a->nended.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch
  if (e.wake != nullptr) sched::ready_by_timer(e.wake);
  if (e.start != nullptr) sched::launch_by_timer(e.start);
}

void forget(rt::timer* node, rt::timer_state was) {
  auto* const a = static_cast<alarm*>(node->arg);
  rt::release_timer(node);
  // Cancelled: then disarm_locked() has counted it, and the alarm may be gone.
  if (was == rt::timer_state::cleared)
    a->nended.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch
}

}  // namespace

void arm_locked(alarm& a, rt::M* mp, std::int64_t when_ns, std::int64_t period_ns) noexcept {
  a.bubble = mp != nullptr ? mp->curg()->bubble() : rt::G::kOrdinary;
  a.when_ns = when_ns;
  a.period_ns = period_ns;
  rt::timer* const node = rt::take_timer();
  if (node == nullptr) sched::fatal("weft: out of memory for timers");
  node->fire = &fire;
  node->arg = &a;
  node->release = &forget;
  arm_node_locked(a, mp, node);
}

bool disarm_locked(alarm& a) noexcept {
  if (a.arming == 0) return false;
  if (rt::timer_heap::cancel(a.node, a.arming))
    a.nended.fetch_add(1, std::memory_order_relaxed);  // nobody else has touched it
  a.arming = 0;
  a.node = nullptr;
  return true;
}

void wait_until_over(const alarm& a) noexcept {
  // acquire: [alarm.over]. Whoever is in it has a few instructions to go.
  while (a.nended.load(std::memory_order_acquire) != a.narmed) os::yield_cpu();
}

}  // namespace weft::alarms
