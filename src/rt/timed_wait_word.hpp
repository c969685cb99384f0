// timed_wait_word.hpp: a wait that two may end: somebody who was waited for, and a timer.
//
// The word lies in the frame of the one who waits, and three leave their mark in it, each as the last thing it does with that frame:
//   parked     the waiter has left its stack, and everything is in place for the other two
//   woken      what was waited for has come
//   timed_out  the time is over
// Whoever is the first to complete `parked` and one of the two others wakes the waiter; if that is the parking step itself,
// the waiter does not wait. So it is woken exactly once.  [timed_wait.once]
//
//    parking step             waker                       timer
//    arm the timer
//    enter into the list
//    |= parked                |= woken                    |= timed_out
//      old had an end:          old == parked: wake         old == parked: wake
//      do not wait
//
// The waiter then goes on only when the other two are done with its frame: the timer is cancelled or has left its mark, and it has
// taken itself off the list or the waker has left its mark.
//
// Edges
//   [timed_wait.mark]  mark: fetch_or release  ->  mark: fetch_or acquire, has: load acquire (what was done with the frame before)
#pragma once

#include <cstdint>

#include "os/futex.hpp"

namespace weft::rt {

enum class wait_mark : std::uint32_t { parked = 1, woken = 2, timed_out = 4 };

template <class A>
class basic_timed_wait_word {
 public:
  // By the parking step. True: it waits. False: an end has come already, and nobody will wake it.
  bool park() noexcept { return leave(wait_mark::parked) == 0; }

  // By the waker or the timer. True: the caller wakes it; and does not touch the frame any more, either way.
  bool end(wait_mark by) noexcept {
    return leave(by) == static_cast<std::uint32_t>(wait_mark::parked);
  }

  bool has(wait_mark m) const noexcept {
    return (word_.load(std::memory_order_acquire) & static_cast<std::uint32_t>(m)) !=
           0;  // [timed_wait.mark]
  }

 private:
  std::uint32_t leave(wait_mark m) noexcept {
    return word_.fetch_or(static_cast<std::uint32_t>(m),
                          std::memory_order_acq_rel);  // [timed_wait.mark]
  }

  typename A::template atomic<std::uint32_t> word_{0};
};

using timed_wait_word = basic_timed_wait_word<os::futex_atomics>;

}  // namespace weft::rt
