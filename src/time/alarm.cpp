// alarm.cpp: see alarm.hpp.
#include "time/alarm.hpp"

#include "os/clock.hpp"
#include "os/thread.hpp"
#include "rt/timer_slab.hpp"
#include "sched/crash.hpp"
#include "sched/current.hpp"
#include "sched/start.hpp"
#include "sched/timers.hpp"

namespace weft::alarms {

namespace {

// relaxed: it changes while nobody runs
bool is_of_this_runtime(const alarm& a) noexcept {
  return a.epoch == sched::sched.epoch.load(std::memory_order_relaxed);
}

void arm_node_locked(alarm& a, rt::M* mp, rt::timer* node) noexcept {
  if (!is_of_this_runtime(a)) {
    a.epoch = sched::sched.epoch.load(std::memory_order_relaxed);
    a.nended.store(a.narmed, std::memory_order_relaxed);  // those of another runtime are over
  }
  a.node = node;
  ++a.narmed;
  a.arming = sched::arm_timer(mp, node, a.when_ns);
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
  const std::int64_t now_ns = os::now_ns();
  effect e;
  bool is_armed_again = false;
  {
    const os::lock_guard hold(a->lock);
    if (a->node == node && a->arming == seq) {
      a->arming = 0;
      a->node = nullptr;
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

}  // namespace

void arm_locked(alarm& a, rt::M* mp, std::int64_t when_ns, std::int64_t period_ns) noexcept {
  a.when_ns = when_ns;
  a.period_ns = period_ns;
  rt::timer* const node = rt::take_timer();
  if (node == nullptr) sched::fatal("weft: out of memory for timers");
  node->fire = &fire;
  node->arg = &a;
  node->release = &rt::release_timer;
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
  // acquire: [alarm.over]. A fire() that is under way has a few instructions to go.
  while (is_of_this_runtime(a) && a.nended.load(std::memory_order_acquire) != a.narmed)
    os::yield_cpu();
}

}  // namespace weft::alarms
