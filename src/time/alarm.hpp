// alarm.hpp: something that happens at a time, may be stopped and moved by anybody, and dies only when nobody is in it.
//
// Which of its armings is the present one, and when the last one is over, is alarm_core.hpp's; here are the clock, the nodes, and whom it wakes.
//
// Edges
//   [alarm.due]  fire, act_if_due: due_ns release  ->  act_if_due: due_ns acquire (what was sent is in the channel)
#pragma once

#include <atomic>
#include <cstdint>

#include "os/futex.hpp"
#include "rt/g.hpp"
#include "rt/m.hpp"
#include "time/alarm_core.hpp"

namespace weft::alarms {

// Whom an alarm wakes, or starts: afterwards, when nobody is in it any more.
struct effect {
  rt::G* wake = nullptr;
  rt::G* start = nullptr;
};

using alarm_core = basic_alarm_core<os::futex_atomics>;

struct alarm : alarm_core {
  // Under the lock, inside the runtime.
  using act_fn = effect (*)(alarm& a, std::int64_t now_ns);
  explicit alarm(act_fn f) noexcept : act(f) {}

  const act_fn act;
  // Under the lock:
  std::int64_t when_ns = 0;
  std::int64_t period_ns = 0;  // 0: once
  std::uint8_t bubble =
      0;  // the bubble in which it was last armed, by whose clock it goes; 0: none

  // No look before that is worth the lock: kNever if it is not armed, the first of all times where the clock is a bubble's. Written under the
  // lock, as the last thing, so whoever finds that nothing is due any more sees what was done.  [alarm.due]
  std::atomic<std::int64_t> due_ns{rt::kNever};
};

// Under the lock, inside the runtime (mp; null on a plain thread). It is not armed. sched::settle_watch() comes next.
void arm_locked(alarm& a, rt::M* mp, std::int64_t when_ns, std::int64_t period_ns) noexcept;

// Under the lock. True: it was armed, and will not act.
bool disarm_locked(alarm& a) noexcept;

// From inside the runtime, with none of its locks, by a goroutine or a plain thread: if it is due it has acted afterwards, and the caller sees
// that. One that goes by a bubble's clock is left to those in there: they keep the bubble from ending meanwhile.
void act_if_due(alarm& a) noexcept;

// It is not armed and never will be again: returns when nobody is in it.
void wait_until_over(const alarm& a) noexcept;

}  // namespace weft::alarms
