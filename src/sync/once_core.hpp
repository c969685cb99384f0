// once_core.hpp: once as a protocol over one word, independent of what parks and wakes.
//
// The word is kNew, kDone, or kRunning, in which case the rest of it is the address of the newest of those who wait.
//
//    one who waits (push, stack already free)     the runner (finish)
//    CAS word: running, list -> running, me       exchange word -> kDone, or kNew if f threw
//                                                 wake everyone in the list that came out, first come first
// The CAS fails if the runner was first, and then nobody waits. Whoever is woken looks again: it may have to be the next runner. After
// the exchange the runner touches only records: whoever was let through may destroy the once.  [once.no_touch_after_finish]
//
// Edges
//   [once.done]  finish: exchange release  ->  begin, is_done: load acquire (what f did)
//   [once.push]  push: CAS release         ->  finish: exchange acquire (the record)
#pragma once

#include <atomic>
#include <cstdint>

#include "sync/wait_record.hpp"

namespace weft::sync {

template <class A, class Waiter>
class once_core {
 public:
  using word = typename A::template atomic<std::uintptr_t>;
  using links = wait_links<Waiter>;
  using record = typename links::record;
  static constexpr std::uintptr_t kNew = 0;
  static constexpr std::uintptr_t kDone = 1;
  static constexpr std::uintptr_t kRunning = 2;
  static_assert(alignof(record) > (kDone | kRunning));

  enum class step : std::uint8_t { run, done, must_wait };

  static step begin(word& state) noexcept {
    std::uintptr_t seen = kNew;
    if (state.compare_exchange_strong(
            seen, kRunning, std::memory_order_acquire,  // what a runner did before it threw
            std::memory_order_acquire))                 // [once.done]
      return step::run;
    return seen == kDone ? step::done : step::must_wait;
  }

  // Enters `mine` among those who wait. False: nobody runs any more.
  static bool push(word& state, record* mine) noexcept {
    std::uintptr_t seen = state.load(std::memory_order_relaxed);  // checked by the CAS
    do {
      if ((seen & kRunning) == 0) return false;
      links::next(mine) = reinterpret_cast<record*>(seen & ~kRunning);
    } while (!state.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(mine) | kRunning,
                                          std::memory_order_release,  // [once.push]
                                          std::memory_order_relaxed));  // failed: tried again
    return true;
  }

  template <class Wake>
  static void finish(word& state, bool is_done, Wake&& wake) noexcept {
    const std::uintptr_t seen = state.exchange(
        is_done ? kDone : kNew, std::memory_order_acq_rel);  // [once.done] [once.push]
    wake_in_order<Waiter>(reinterpret_cast<record*>(seen & ~kRunning), wake);
  }
};

}  // namespace weft::sync
