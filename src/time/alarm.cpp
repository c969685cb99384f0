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

void fire(rt::timer* node, void* arg, std::uint64_t seq);

// What it was last armed in goes on: if not, nobody will come any more.
bool is_in_force(const alarm& a) noexcept {
  // relaxed: it changes while nobody runs
  if (a.epoch != sched::sched.epoch.load(std::memory_order_relaxed)) return false;
  return a.bubble == 0 || a.life == sched::life_of_bubble(a.bubble);
}

void publish_due_locked(alarm& a) noexcept {
  std::int64_t due_ns = rt::kNever;
  if (a.arming != 0) due_ns = a.bubble == 0 ? a.when_ns : detail::kFirstNs;
  a.due_ns.store(due_ns, std::memory_order_release);  // [alarm.due]
}

void arm_node_locked(alarm& a, rt::M* mp, rt::timer* node) noexcept {
  a.node = node;
  ++a.narmed;
  a.arming = sched::arm_timer(mp, node, a.when_ns, a.bubble);
  if (a.arming == 0) sched::fatal("weft: out of memory for timers");
  publish_due_locked(a);
}

rt::timer* new_node(alarm& a) noexcept {
  rt::timer* const node = rt::take_timer();
  if (node == nullptr) sched::fatal("weft: out of memory for timers");
  node->fire = &fire;
  node->arg = &a;
  node->release = &rt::release_timer;
  return node;
}

// The present arming is over.
void forget_locked(alarm& a) noexcept {
  a.arming = 0;
  a.node = nullptr;
}

bool cancel_locked(alarm& a) noexcept {
  if (a.arming == 0) return false;
  if (rt::timer_heap::cancel(a.node, a.arming))
    a.nended.fetch_add(1, std::memory_order_relaxed);  // nobody else has touched it
  forget_locked(a);
  return true;
}

// The next multiple of its period that has not passed. False: there is no such time.
bool move_on(alarm& a, std::int64_t now_ns) noexcept {
  if (a.period_ns == 0) return false;
  const std::int64_t nmissed = (now_ns - a.when_ns) / a.period_ns;
  return !__builtin_add_overflow(a.when_ns, (nmissed + 1) * a.period_ns, &a.when_ns);
}

// Its time has come, and the present arming is over. True: it goes on, armed for the next time, with this node (null: with a new one).
bool act_locked(alarm& a, rt::M* mp, rt::timer* node, std::int64_t now_ns, effect& e) noexcept {
  e = a.act(a, now_ns);
  if (!move_on(a, now_ns)) {
    publish_due_locked(a);
    return false;
  }
  arm_node_locked(a, mp, node != nullptr ? node : new_node(a));
  return true;
}

void fire(rt::timer* node, void* arg, std::uint64_t seq) {
  auto* const a = static_cast<alarm*>(arg);
  effect e;
  bool is_armed_again = false;
  {
    const os::lock_guard hold(a->lock);
    if (a->node == node && a->arming == seq) {
      forget_locked(*a);
      is_armed_again = act_locked(*a, sched::current_m(), node, sched::now_ns(a->bubble), e);
    }
  }
  if (!is_armed_again) rt::release_timer(node);
  a->nended.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch
  if (e.wake != nullptr) sched::ready_by_timer(e.wake);
  if (e.start != nullptr) sched::launch_by_timer(e.start);
}

}  // namespace

void arm_locked(alarm& a, rt::M* mp, std::int64_t when_ns, std::int64_t period_ns) noexcept {
  if (!is_in_force(a)) a.nended.store(a.narmed, std::memory_order_relaxed);  // [alarm.over]
  a.epoch = sched::sched.epoch.load(std::memory_order_relaxed);  // changes while nobody runs
  a.bubble = mp != nullptr ? mp->curg()->bubble() : rt::G::kOrdinary;
  a.life = a.bubble != 0 ? sched::life_of_bubble(a.bubble) : 0;
  a.when_ns = when_ns;
  a.period_ns = period_ns;
  arm_node_locked(a, mp, new_node(a));
}

bool disarm_locked(alarm& a) noexcept {
  const bool was_armed = cancel_locked(a);
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
    if (a.arming == 0 || !is_in_force(a)) return;
    if (a.bubble != 0 && a.bubble != sched::current_bubble()) return;
    const std::int64_t now_ns = sched::now_ns(a.bubble);
    if (a.when_ns > now_ns) return;
    cancel_locked(a);
    act_locked(a, mp, nullptr, now_ns, e);
  }
  sched::settle_watch(mp);  // we go back to user code
  if (e.wake != nullptr) sched::ready(mp, e.wake);
}

void wait_until_over(const alarm& a) noexcept {
  // acquire: [alarm.over]. A fire() that is under way has a few instructions to go.
  while (is_in_force(a) && a.nended.load(std::memory_order_acquire) != a.narmed) os::yield_cpu();
}

}  // namespace weft::alarms
