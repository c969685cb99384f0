// alarm.cpp: see alarm.hpp.
#include "time/alarm.hpp"

#include "os/clock.hpp"
#include "os/thread.hpp"
#include "rt/timer_slab.hpp"
#include "sched/bubbles.hpp"
#include "sched/crash.hpp"
#include "sched/current.hpp"
#include "sched/park.hpp"
#include "sched/start.hpp"
#include "sched/timers.hpp"

#include <weft/clock.hpp>

namespace weft::alarms {

namespace {

// What has just been done to it is there for whoever finds that nothing is due any more.
void publish_due_locked(alarm& a) noexcept {
  std::int64_t due_ns = rt::kNever;
  if (a.is_armed_locked()) due_ns = a.bubble == 0 ? a.when_ns : detail::kFirstNs;
  a.due_ns.store(due_ns, std::memory_order_release);  // [alarm.due]
}

void arm_node_locked(alarm& a, rt::M* mp, rt::timer* node) noexcept {
  a.alarm_core::arm_locked(node, [&](rt::timer* t) {
    const std::uint64_t seq = sched::arm_timer(mp, t, a.when_ns, a.bubble);
    if (seq == 0) sched::fatal("weft: out of memory for timers");
    return seq;
  });
  publish_due_locked(a);
}

// The next multiple of its period that has not passed. False: there is no such time.
bool move_on(alarm& a, std::int64_t now_ns) noexcept {
  if (a.period_ns == 0) return false;
  const std::int64_t nmissed = (now_ns - a.when_ns) / a.period_ns;
  return !__builtin_add_overflow(a.when_ns, (nmissed + 1) * a.period_ns, &a.when_ns);
}

// Its time has come, and the present arming is over. True: it is armed for the next time, with that node.
template <class Node>
bool act_locked(alarm& a, rt::M* mp, std::int64_t now_ns, effect& e, Node&& node) noexcept {
  e = a.act(a, now_ns);
  if (!move_on(a, now_ns)) {
    publish_due_locked(a);
    return false;
  }
  arm_node_locked(a, mp, node());
  return true;
}

void fire(rt::timer* node, void* arg, std::uint64_t seq) {
  auto* const a = static_cast<alarm*>(arg);
  effect e;
  const bool is_armed_again = a->fire(node, seq, [&] {
    return act_locked(*a, sched::current_m(), sched::now_ns(a->bubble), e, [&] { return node; });
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

rt::timer* new_node(alarm& a) noexcept {
  rt::timer* const node = rt::take_timer();
  if (node == nullptr) sched::fatal("weft: out of memory for timers");
  node->fire = &fire;
  node->arg = &a;
  node->release = &forget;
  return node;
}

}  // namespace

void arm_locked(alarm& a, rt::M* mp, std::int64_t when_ns, std::int64_t period_ns) noexcept {
  a.bubble = mp != nullptr ? mp->curg()->bubble() : rt::G::kOrdinary;
  a.when_ns = when_ns;
  a.period_ns = period_ns;
  arm_node_locked(a, mp, new_node(a));
}

bool disarm_locked(alarm& a) noexcept {
  const bool was_armed = a.alarm_core::disarm_locked();
  publish_due_locked(a);
  return was_armed;
}

void act_if_due(alarm& a) noexcept {
  const std::int64_t due_ns = a.due_ns.load(std::memory_order_acquire);  // [alarm.due]
  if (due_ns == rt::kNever || due_ns > os::now_ns()) return;
  rt::M* const mp = sched::current_m();
  effect e;
  {
    const os::lock_guard hold(a.lock);
    if (!a.is_armed_locked() || (a.bubble != 0 && a.bubble != sched::current_bubble())) return;
    const std::int64_t now_ns = sched::now_ns(a.bubble);
    if (a.when_ns > now_ns) return;
    a.alarm_core::disarm_locked();
    act_locked(a, mp, now_ns, e, [&] { return new_node(a); });
  }
  sched::settle_watch(mp);  // we go back to user code
  if (e.wake != nullptr) sched::ready(mp, e.wake);
}

void wait_until_over(const alarm& a) noexcept {
  a.alarm_core::wait_until_over([] { os::yield_cpu(); });
}

}  // namespace weft::alarms
