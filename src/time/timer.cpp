// timer.cpp: timers and tickers: a channel with room for one time, and an alarm that sends to it.
//
// The channel owns the alarm: it is stopped and freed when the channel dies. So whoever can still receive has a timer that runs, and
// nobody else has one.
#include "chan/impl.hpp"
#include "sched/entry.hpp"
#include "sched/start.hpp"
#include "sched/timers.hpp"
#include "time/alarm.hpp"

#include <weft/detail/alarm.hpp>

namespace weft::alarms {

namespace {

struct sender : alarm {
  explicit sender(channels::core& c) noexcept : alarm(&send_time), to(c) {}

  // If the last one was received; else this tick is dropped.
  static effect send_time(alarm& a, std::int64_t now_ns) {
    channels::core& to = static_cast<sender&>(a).to;
    effect e;
    const os::lock_guard hold(to.lock());
    to.send(&now_ns, e.wake);
    return e;
  }

  channels::core& to;
};

// True: it would have been received.
bool stop_locked(sender& s) noexcept {
  const bool was_armed = disarm_locked(s);
  std::int64_t stale;
  rt::G* nobody = nullptr;  // nobody sends but us
  const os::lock_guard hold(s.to.lock());
  const bool was_sent = s.to.length() != 0 && s.to.recv(&stale, nobody) == channels::step::done;
  return was_armed || was_sent;
}

// The channel is dead: nobody can receive, stop or reset any more.
void free_sender(void* attached) noexcept {
  auto* const s = static_cast<sender*>(attached);
  {
    const sched::bracket inside;
    const os::lock_guard hold(s->lock);
    stop_locked(*s);
  }
  wait_until_over(*s);
  delete s;
}

void send_if_due(void* attached) noexcept { act_if_due(*static_cast<sender*>(attached)); }

sender& of(detail::channel* c) noexcept {
  return *static_cast<sender*>(channels::of(c)->attached());
}

}  // namespace

}  // namespace weft::alarms

namespace weft::inline v1::detail {

channel* make_alarm(std::int64_t when_ns, std::int64_t period_ns) {
  sched::require_running("weft::timer");  // nobody else looks at the clock
  auto* const c =
      channels::of(make_channel(sizeof(std::int64_t), alignof(std::int64_t), 1, nullptr));
  try {
    c->attach_alarm(new alarms::sender(c->c), &alarms::free_sender, &alarms::send_if_due);
  } catch (...) {
    c->release();
    throw;
  }
  reset_alarm(c, when_ns, period_ns);
  return c;
}

bool stop_alarm(channel* c) noexcept {
  const sched::bracket inside;
  alarms::sender& s = alarms::of(c);
  const os::lock_guard hold(s.lock);
  return alarms::stop_locked(s);
}

bool reset_alarm(channel* c, std::int64_t when_ns, std::int64_t period_ns) noexcept {
  const sched::bracket inside;
  alarms::sender& s = alarms::of(c);
  const os::lock_guard hold(s.lock);
  const bool was_to_come = alarms::stop_locked(s);
  alarms::arm_locked(s, inside.m(), when_ns, period_ns);
  sched::settle_watch(inside.m());  // we go back to user code
  return was_to_come;
}

}  // namespace weft::inline v1::detail
