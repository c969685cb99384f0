// park.hpp: waiting and being woken: what every blocking operation of weft is made of.
//
//    park(publish, arg, why, object)      this goroutine stops; `publish` makes it findable to its waker
//    ready(gp)                            the waker
//
// publish(gp, arg) runs after the goroutine has left its stack, on another one, inside the bracket. It enters the goroutine into
// whatever list its waker looks at; from that moment another M may run it. If there is no need to wait any more it returns false
// and has entered nothing. So there is no window between "decided to wait" and "can be woken", and no lost wake-up.
//
// A plain thread does the same with its proxy: publish runs on its own stack, then it sleeps on a note.
#pragma once

#include "sched/state.hpp"

namespace weft::sched {

using publish_fn = bool (*)(G* gp, void* arg);

// direct: straight to the next goroutine. by_scheduler: this thread's scheduler looks round after publish, which may have armed a timer.
enum class way : std::uint8_t { direct, by_scheduler };

// From user context (outside the bracket), any thread. Returns when readied, perhaps on another thread.
void park(publish_fn publish, void* arg, wait_reason why, const void* object,
          way how = way::direct) noexcept;

// The same from inside the bracket, perhaps with locks held that publish gives up: nobody can find the goroutine before. mp is null on a
// plain thread. Returns the M it goes on with, still inside.
M* park_inside(M* mp, publish_fn publish, void* arg, wait_reason why, const void* object,
               way how = way::direct) noexcept;

// Whoever waits for something that cannot come.
[[noreturn]] void park_for_ever(wait_reason why) noexcept;

// Its runtime has ended: it will never run again, and what it waits at is not for it.
inline bool is_abandoned(const G* gp) noexcept {
  // relaxed: it changes while no goroutine runs
  return !gp->is_proxy() && gp->epoch != sched.epoch.load(std::memory_order_relaxed);
}

// waiting -> runnable, and the caller's. Waits while the scavenger has the stack in its hands.
void claim_waiting(G* gp) noexcept;

// Makes a parked goroutine runnable, from any thread; inside the bracket if the thread has an M (mp), else null.
// A goroutine of a runtime that has ended is left alone.
void ready(M* mp, G* gp) noexcept;

// Wakes many, who are named last come first and go on first come first. Each was in a list that is followed through the stacks of those who
// wait, none of which is in a cache: so the list is followed once, and a G is asked for some places before it is touched. Inside the bracket.
class waking {
 public:
  explicit waking(M* mp) noexcept : mp_(mp) {}
  // False: they must be woken one by one, by ready().
  static bool is_for(const M* mp) noexcept {
    return mp != nullptr && !sched.is_chaotic.load(std::memory_order_relaxed);  // fixed at start
  }
  void add_in_front(G* gp) noexcept;
  void end() noexcept;

 private:
  static constexpr std::size_t kAhead = 8;

  void claim(G* gp) noexcept;

  M* const mp_;
  G* coming_[kAhead] = {};
  std::size_t ncome_ = 0;
  rt::g_queue woken_;
};

// Puts the running goroutine at the end of the queue and has the scheduler look round. Inside the bracket; afterwards ask for the
// M again.
void yield_through_g0(M* mp) noexcept;

// The G of this thread: the running goroutine, or the thread's proxy.
G* current_g() noexcept;

}  // namespace weft::sched
