// alarm_core.hpp: which arming of an alarm is the present one, and when nobody is in it any more.
//
// Each arming takes a node of its own from the timers' slab, since a cancelled node stays in its heap for a while. An arming is over when its
// cancel() has succeeded, when fire() has come to its end, or when the heap was emptied with it, at the end of the runtime or the bubble,
// and has said so (forget); narmed_ and nended_ count them, and when both are equal nobody touches the alarm any more but its owner.  [alarm.over]
// That a runtime has ended says nothing: a plain thread may arm in it until its heaps are emptied, and a thread without a P may be in fire().
//
//    stop                                    fire, of an arming that could not be cancelled any more
//    lock                                    lock
//    disarm_locked: there is none            not the present one: do nothing
//    take back what was done                 the present one: act
//    unlock                                  unlock
//                                            nended_ + 1: the last touch
// Either it has acted before stop looks, which can take it back, or it does not act.
//
// Whoever looks whether its time has come need not wait for fire: he acts himself (act_if_due, alarm.cpp), as an arming of his own. To a fire that is on
// its way that is like a stop, and to a stop like a fire:
//
//    act early                               stop
//    lock                                    lock
//    due? disarm_locked, act                 disarm_locked (there may be none any more)
//    unlock                                  take back what was done
//    receive what was sent, if it is there   unlock
// One comes first, whole. Stopped first, there is nothing that is due. Looked first, what was sent is taken back, or was received and stop says so.
// One whose heap was emptied is armed for ever, until it is stopped, moved, or looked at when its time has come.
//
// A node belongs to its arming until that is over, so the node and its number tell the present one from one that comes late: either alone would
// not, since each node counts for itself.
//
// Edges
//   [alarm.over]  fire, forget: nended_ release  ->  wait_until_over: nended_ acquire
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "rt/timer_heap.hpp"

namespace weft::alarms {

template <class A>
class basic_alarm_core {
 public:
  using timer = rt::basic_timer<A>;

  os::basic_lock<A, os::lock_rank::alarm> lock;

  // Under the lock. It is not armed. arm(node) arms that node and gives the number of the arming.
  template <class Arm>
  void arm_locked(timer* node, Arm&& arm) noexcept {
    node_ = node;
    ++narmed_;
    arming_ = arm(node);
  }

  // Under the lock.
  bool is_armed_locked() const noexcept { return arming_ != 0; }

  // Under the lock. True: it was armed, and will not act.
  bool disarm_locked() noexcept {
    if (arming_ == 0) return false;
    if (rt::basic_timer_heap<A>::cancel(node_, arming_))
      nended_.fetch_add(1, std::memory_order_relaxed);  // nobody else has touched it
    arming_ = 0;
    node_ = nullptr;
    return true;
  }

  // By the timer's fire(). act(), under the lock, if that is the present arming; true from it: it has armed the same node again. True: that is
  // so; else the node is the caller's. The alarm may be gone.
  template <class Act>
  bool fire(timer* node, std::uint64_t seq, Act&& act) noexcept {
    bool is_armed_again = false;
    {
      const os::lock_guard hold(lock);
      if (node_ == node && arming_ == seq) {
        arming_ = 0;
        node_ = nullptr;
        is_armed_again = act();
      }
    }
    nended_.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch
    return is_armed_again;
  }

  // By the timer's release(), which may hold any lock. If it was cancelled disarm_locked() has counted that, and the alarm may be gone.
  static void forget(basic_alarm_core* a, rt::timer_state was) noexcept {
    if (was == rt::timer_state::cleared)
      a->nended_.fetch_add(1, std::memory_order_release);  // [alarm.over]; the last touch
  }

  // It is not armed and never will be again: returns when nobody is in it. Whoever is has a few instructions to go.
  template <class Pause>
  void wait_until_over(Pause&& pause) const noexcept {
    while (nended_.load(std::memory_order_acquire) != narmed_) pause();  // [alarm.over]
  }

 private:
  // Under the lock:
  timer* node_ = nullptr;
  std::uint64_t arming_ = 0;  // 0: none
  std::uint64_t narmed_ = 0;

  typename A::template atomic<std::uint64_t> nended_{0};
};

}  // namespace weft::alarms
