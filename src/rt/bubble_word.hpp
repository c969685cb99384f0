// bubble_word.hpp: how many of a bubble's goroutines are active, and whether its keeper sleeps until none is.
//
// Active is whoever is not durably blocked, and the keeper itself while it is at work. Nobody may find the bubble quiet while somebody is
// on its way, so each is counted in before it can run and counted out only when it can be woken:
//
//    goroutine that blocks (on the next stack)      waker
//    publish: now it can be found                   take it from the list
//    count out: n - 1                               count in: n + 1
//                                                   make it runnable
// However the four steps mix, the count is at least 1 from before publish until the waker's own count; and the waker is active itself, or
// stands outside of the bubble, where the count promises nothing (bubbles.hpp).  [bubble.never_quiet_too_soon]
//
//    keeper                                         who comes to be the last
//    count out and mark "asleep", in one step:      count out: it reads (asleep, 0)
//      0 left: stay awake                           CAS (asleep, 0) -> (awake, 1): wake the keeper
//      else sleep                                   failed: somebody was counted in, who will be the last in his turn
// One CAS wins for each sleep, so the keeper is woken exactly once.  [bubble.woken_once]
//
// Edges
//   [bubble.quiet]  count_out: fetch_sub release  ->  the last count_out, sleep: acquire, and by way of ready() the keeper (what the
//                   goroutines did before they were blocked, or ended)
#pragma once

#include <cstdint>

#include "os/futex.hpp"

namespace weft::rt {

template <class A>
class basic_bubble_word {
 public:
  // The keeper, awake, and nobody else. Not while anybody is counted.
  void reset() noexcept { word_.store(1, std::memory_order_relaxed); }  // published with the bubble

  void count_in() noexcept {
    word_.fetch_add(1, std::memory_order_relaxed);
  }  // the waker hands over by its own means

  // True: the caller wakes the keeper, which is counted as active from now on.
  bool count_out() noexcept {
    if (word_.fetch_sub(1, std::memory_order_acq_rel) != kAsleep + 1)
      return false;  // [bubble.quiet]
    std::uint64_t quiet = kAsleep;
    return word_.compare_exchange_strong(quiet, 1,
                                         std::memory_order_acq_rel,   // [bubble.woken_once]
                                         std::memory_order_relaxed);  // failed: left to another
  }

  // The keeper counts itself out. False: it is the only one, and stays awake.
  bool sleep() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_acquire);  // [bubble.quiet]
    do {
      if (seen == 1) return false;
    } while (!word_.compare_exchange_weak(seen, (seen - 1) | kAsleep, std::memory_order_acq_rel,
                                          std::memory_order_acquire));  // [bubble.quiet]
    return true;
  }

  // The keeper, awake: there is nobody but itself.
  bool is_quiet() const noexcept {
    return word_.load(std::memory_order_acquire) == 1;  // [bubble.quiet]
  }

 private:
  static constexpr std::uint64_t kAsleep = std::uint64_t{1} << 63;

  typename A::template atomic<std::uint64_t> word_{1};
};

}  // namespace weft::rt
