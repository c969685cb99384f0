// alarm.hpp: something that happens at a time, may be stopped and moved by anybody, and dies only when nobody is in it.
//
// Each arming takes a node of its own from the timers' slab, since a cancelled node stays in its heap for a while. An arming is over when its
// cancel() has succeeded, when fire() has come to its end, or when the heap was emptied with it, at the end of the runtime or the bubble,
// and has said so (forget); narmed and nended count them, and when both are equal nobody touches the alarm any more but its owner.  [alarm.over]
// That a runtime has ended says nothing: a plain thread may arm in it until its heaps are emptied, and a thread without a P may be in fire().
//
//    stop()                                  fire(), of an arming that could not be cancelled any more
//    lock                                    lock
//    forget which arming is the present one  not the present one: do nothing
//    take back what was done                 the present one: act
//    unlock                                  unlock
// Either it has acted before stop() looks, which can take it back, or it does not act.
//
// Edges
//   [alarm.over]  fire, forget: nended release  ->  wait_until_over: nended acquire
#pragma once

#include <atomic>
#include <cstdint>

#include "os/lock.hpp"
#include "rt/g.hpp"
#include "rt/m.hpp"
#include "rt/timer.hpp"

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
  std::uint8_t bubble =
      0;  // the bubble in which it was last armed, by whose clock it goes; 0: none

  std::atomic<std::uint64_t> nended{0};
};

// Under the lock, inside the runtime (mp; null on a plain thread). It is not armed. sched::settle_watch() comes next.
void arm_locked(alarm& a, rt::M* mp, std::int64_t when_ns, std::int64_t period_ns) noexcept;

// Under the lock. True: it was armed, and will not act.
bool disarm_locked(alarm& a) noexcept;

// It is not armed and never will be again: returns when nobody is in it.
void wait_until_over(const alarm& a) noexcept;

}  // namespace weft::alarms
