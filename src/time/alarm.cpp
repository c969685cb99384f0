// alarm.cpp: timers and tickers: a channel with room for one time, and a timer that sends to it.
//
// The channel owns the alarm: it is stopped and freed when the channel dies. So whoever can still receive has a timer that runs, and
// nobody else has one.
//
// Each arming takes a node of its own from the timers' slab, since a cancelled node stays in its heap for a while. An arming is over when its
// cancel() has succeeded, or when fire() has come to its end; narmed and nended count them, and when both are equal nobody touches the alarm
// any more but its owner.  [alarm.over] The end of a runtime cancels every timer without telling: what was armed in another one is over.
//
//    stop()                                  fire(), of an arming that could not be cancelled any more
//    lock                                    lock
//    forget which arming is the present one  not the present one: send nothing
//    take what was sent out of the channel   the present one: send
//    unlock                                  unlock
// Either it is sent before stop() looks, and taken out again, or it is not sent.
//
// Edges
//   [alarm.over]  fire: nended release  ->  free: nended acquire
#include "chan/impl.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "rt/timer_slab.hpp"
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/start.hpp"
#include "sched/timers.hpp"

#include <weft/detail/alarm.hpp>

namespace weft::alarms {

namespace {

struct alarm {
  explicit alarm(channels::core& c) noexcept : to(c) {}

  channels::core& to;
  os::lock lock;
  // Under the lock:
  rt::timer* node = nullptr;
  std::uint64_t arming = 0;  // 0: none
  std::int64_t when_ns = 0;
  std::int64_t period_ns = 0;
  std::uint64_t narmed = 0;
  std::uint32_t epoch = 0;  // the runtime that it was last armed in

  std::atomic<std::uint64_t> nended{0};
};

void fire(rt::timer* node, void* arg, std::uint64_t seq);

// relaxed: it changes while nobody runs
bool is_of_this_runtime(const alarm& a) noexcept {
  return a.epoch == sched::sched.epoch.load(std::memory_order_relaxed);
}

// mp is inside the runtime, or null on a plain thread. Under the lock.
void arm_locked(alarm& a, rt::M* mp, rt::timer* node) noexcept {
  if (!is_of_this_runtime(a)) {
    a.epoch = sched::sched.epoch.load(std::memory_order_relaxed);
    a.nended.store(a.narmed, std::memory_order_relaxed);  // those of another runtime are over
  }
  a.node = node;
  ++a.narmed;
  a.arming = sched::arm_timer(mp, node, a.when_ns);
  if (a.arming == 0) sched::fatal("weft: out of memory for timers");
}

void arm_anew_locked(alarm& a, rt::M* mp) noexcept {
  rt::timer* const node = rt::take_timer();
  if (node == nullptr) sched::fatal("weft: out of memory for timers");
  node->fire = &fire;
  node->arg = &a;
  node->release = &rt::release_timer;
  arm_locked(a, mp, node);
}

// True: it would have been received.
bool disarm_locked(alarm& a) noexcept {
  bool was_to_come = a.arming != 0;
  if (was_to_come && rt::timer_heap::cancel(a.node, a.arming))
    a.nended.fetch_add(1, std::memory_order_relaxed);  // nobody else has touched it
  a.arming = 0;
  a.node = nullptr;
  std::int64_t stale;
  rt::G* nobody = nullptr;  // nobody sends but us
  const os::lock_guard hold(a.to.lock());
  if (a.to.length() != 0) was_to_come |= a.to.recv(&stale, nobody) == channels::step::done;
  return was_to_come;
}

// The time into the channel, if the last one was received. Who must be woken.
rt::G* send_time(alarm& a, std::int64_t now_ns) noexcept {
  rt::G* wake = nullptr;
  const os::lock_guard hold(a.to.lock());
  a.to.send(&now_ns, wake);  // no room: that tick is dropped
  return wake;
}

void fire(rt::timer* node, void* arg, std::uint64_t seq) {
  auto* const a = static_cast<alarm*>(arg);
  const std::int64_t now_ns = os::now_ns();
  rt::G* wake = nullptr;
  bool is_armed_again = false;
  {
    const os::lock_guard hold(a->lock);
    if (a->node == node && a->arming == seq) {
      a->arming = 0;
      a->node = nullptr;
      wake = send_time(*a, now_ns);
      if (a->period_ns != 0) {
        const std::int64_t nmissed = (now_ns - a->when_ns) / a->period_ns;
        if (!__builtin_add_overflow(a->when_ns, (nmissed + 1) * a->period_ns, &a->when_ns)) {
          is_armed_again = true;
          arm_locked(*a, sched::current_m(), node);
        }
      }
    }
  }
  if (!is_armed_again) rt::release_timer(node);
  a->nended.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch
  if (wake != nullptr) sched::ready_by_timer(wake);
}

// The channel is dead: nobody can receive, stop or reset any more.
void free_alarm(void* attached) noexcept {
  auto* const a = static_cast<alarm*>(attached);
  {
    const sched::bracket inside;
    const os::lock_guard hold(a->lock);
    disarm_locked(*a);
  }
  // acquire: [alarm.over]. A fire() that is under way has a few instructions to go.
  while (is_of_this_runtime(*a) && a->nended.load(std::memory_order_acquire) != a->narmed)
    os::yield_cpu();
  delete a;
}

alarm& of(detail::channel* c) noexcept { return *static_cast<alarm*>(channels::of(c)->attached()); }

}  // namespace

}  // namespace weft::alarms

namespace weft::inline v1::detail {

channel* make_alarm(std::int64_t when_ns, std::int64_t period_ns) {
  sched::require_running("weft::timer");  // nobody else looks at the clock
  auto* const c =
      channels::of(make_channel(sizeof(std::int64_t), alignof(std::int64_t), 1, nullptr));
  try {
    c->attach(new alarms::alarm(c->c), &alarms::free_alarm);
  } catch (...) {
    c->release();
    throw;
  }
  reset_alarm(c, when_ns, period_ns);
  return c;
}

bool stop_alarm(channel* c) noexcept {
  const sched::bracket inside;
  alarms::alarm& a = alarms::of(c);
  const os::lock_guard hold(a.lock);
  return alarms::disarm_locked(a);
}

bool reset_alarm(channel* c, std::int64_t when_ns, std::int64_t period_ns) noexcept {
  const sched::bracket inside;
  alarms::alarm& a = alarms::of(c);
  const os::lock_guard hold(a.lock);
  const bool was_to_come = alarms::disarm_locked(a);
  a.when_ns = when_ns;
  a.period_ns = period_ns;
  alarms::arm_anew_locked(a, inside.m());
  sched::settle_watch(inside.m());  // we go back to user code
  return was_to_come;
}

}  // namespace weft::inline v1::detail
