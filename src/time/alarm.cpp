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
  a.alarm_core::arm_locked(node, [&](rt::timer* t) {
    const std::uint64_t seq = sched::arm_timer(mp, t, a.when_ns, a.bubble);
    if (seq == 0) sched::fatal("weft: out of memory for timers");
    return seq;
  });
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
  const bool is_armed_again = a->fire(node, seq, [&] {
    const std::int64_t now_ns = sched::now_ns(a->bubble);
    e = a->act(*a, now_ns);
    if (!move_on(*a, now_ns)) return false;
    arm_node_locked(*a, sched::current_m(), node);
    return true;
  });
  if (!is_armed_again) rt::release_timer(node);
  if (e.wake != nullptr) sched::ready_by_timer(e.wake);
  if (e.start != nullptr) sched::launch_by_timer(e.start);
}

void forget(rt::timer* node, rt::timer_state was) {
  auto* const a = static_cast<alarm*>(node->arg);
  rt::release_timer(node);
  alarm_core::forget(a, was);
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

bool disarm_locked(alarm& a) noexcept { return a.alarm_core::disarm_locked(); }

void wait_until_over(const alarm& a) noexcept {
  a.alarm_core::wait_until_over([] { os::yield_cpu(); });
}

}  // namespace weft::alarms
