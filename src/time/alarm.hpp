// alarm.hpp: something that happens at a time, may be stopped and moved by anybody, and dies only when nobody is in it.
//
// Each arming takes a node of its own from the timers' slab, since a cancelled node stays in its heap for a while. An arming is over when its
// cancel() has succeeded, or when fire() has come to its end; narmed and nended count them, and when both are equal nobody touches the alarm
// any more but its owner.  [alarm.over] The end of a runtime cancels every timer without telling, and so does the end of a bubble: what was
// armed in another one is over.
//
//    stop()                                  fire(), of an arming that could not be cancelled any more
//    lock                                    lock
//    forget which arming is the present one  not the present one: do nothing
//    take back what was done                 the present one: act
//    unlock                                  unlock
// Either it has acted before stop() looks, which can take it back, or it does not act.
//
// Whoever looks whether its time has come need not wait until the scheduler gets to it: act_if_due() does what fire() would, as an arming of
// its own. To a fire() that is on its way it is like a stop(), and to a stop() like a fire():
//
//    act_if_due()                            stop(), reset()
//    lock                                    lock
//    due? forget which arming is the         forget it (there may be none any more)
//    present one, act                        take back what was done
//    unlock                                  unlock
//    receive what was sent, if it is there
// One comes first, whole. Stopped first, there is nothing that is due. Looked first, what was sent is taken back, or was received and stop()
// says so. So what stop() returns still tells whether it was received.
//
// Edges
//   [alarm.over]  fire: nended release  ->  wait_until_over: nended acquire
//   [alarm.due]   fire, act_if_due: due_ns release  ->  act_if_due: due_ns acquire (what was sent is in the channel)
#pragma once

#include <atomic>
#include <cstdint>

#include "os/lock.hpp"
#include "rt/g.hpp"
#include "rt/m.hpp"
#include "rt/timer_heap.hpp"

namespace weft::alarms {

// Whom an alarm wakes, or starts: afterwards, when nobody is in it any more.
struct effect {
  rt::G* wake = nullptr;
  rt::G* start = nullptr;
};

struct alarm {
  // Under the lock, inside the runtime.
  using act_fn = effect (*)(alarm& a, std::int64_t now_ns);
  explicit alarm(act_fn f) noexcept : act(f) {}

  const act_fn act;
  os::lock<os::lock_rank::alarm> lock;
  // Under the lock:
  rt::timer* node = nullptr;
  std::uint64_t arming = 0;  // 0: none
  std::int64_t when_ns = 0;
  std::int64_t period_ns = 0;  // 0: once
  std::uint64_t narmed = 0;
  std::uint32_t epoch = 0;  // the runtime that it was last armed in
  std::uint8_t bubble = 0;  // the bubble in which that was, by whose clock it goes; 0: in none
  std::uint64_t life = 0;   // which one with that number

  // No look before that is worth the lock: kNever if it is not armed, the first of all times where the clock is a bubble's. Written under the
  // lock, as the last thing, so whoever finds that nothing is due any more sees what was done.  [alarm.due]
  std::atomic<std::int64_t> due_ns{rt::kNever};

  std::atomic<std::uint64_t> nended{0};
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
