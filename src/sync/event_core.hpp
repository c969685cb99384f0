// event_core.hpp: the event as a protocol over one word, independent of what parks and wakes.
//
// The word is kUnset, kSet, or the address of the newest of those who wait (its record, or itself: wait_record.hpp); each points to the one
// before it.
//
//    waiter (publish, stack already free)      setter
//    CAS word: list -> me : list               exchange word -> kSet
//                                              wake everyone in the list that came out
// The CAS fails if the setter was first, and then nobody waits; if the waiter was first the exchange returns it. After the exchange
// the setter does not touch the event again, only the waiters' records, each read before its owner is woken: whoever was
// woken may destroy the event.  [event.no_touch_after_set]
//
// Edges
//   [event.set]   set: exchange release       ->  is_set / push: load acquire (what was done before set())
//   [event.push]  push: CAS release           ->  set: exchange acquire (the waiter's record)
#pragma once

#include <atomic>
#include <cstdint>

#include "sync/wait_record.hpp"

namespace weft::sync {

template <class A, class Waiter>
class event_core {
 public:
  using word = typename A::template atomic<std::uintptr_t>;
  using links = wait_links<Waiter>;
  using record = typename links::record;
  static constexpr std::uintptr_t kUnset = 0;
  static constexpr std::uintptr_t kSet = 1;
  static constexpr std::uintptr_t kDetached = 2;  // never waited for (completion only)

  // Enters `mine` among those who wait. False: it is set, nobody waits.
  static bool push(word& state, record* mine) noexcept {
    std::uintptr_t seen = state.load(std::memory_order_acquire);  // [event.set]
    do {
      if (seen == kSet) return false;
      links::next(mine) = reinterpret_cast<record*>(seen);
    } while (!state.compare_exchange_weak(
        seen, reinterpret_cast<std::uintptr_t>(mine), std::memory_order_release,
        std::memory_order_acquire));  // [event.push]; failed: [event.set]
    return true;
  }

  // Sets it; wake(Waiter*) for each who waited, first come first. False: it was detached before.
  template <class Wake>
  static bool set(word& state, Wake&& wake) noexcept {
    const std::uintptr_t seen =
        state.exchange(kSet, std::memory_order_acq_rel);  // [event.set] [event.push]
    if (seen == kDetached) return false;
    if (seen == kUnset || seen == kSet) return true;
    wake_in_order<Waiter>(reinterpret_cast<record*>(seen), wake);
    return true;
  }

  // Takes `mine`, which nobody else waits beside, off again. False: the setter has it in hand, and will wake its owner.
  static bool withdraw_only(word& state, record* mine) noexcept {
    auto seen = reinterpret_cast<std::uintptr_t>(mine);
    // Nothing is handed over if it succeeds; failed: [event.set]
    return state.compare_exchange_strong(seen, kUnset, std::memory_order_acquire);
  }

  // Nobody will ever wait. True: it is set already. False: set() will find out; or somebody does wait (in a runtime that has ended,
  // or the handle would not be free), and then it is left as it is.
  static bool detach(word& state) noexcept {
    std::uintptr_t seen = kUnset;
    // release: to whoever frees what the two share; acquire: what was done before set()
    state.compare_exchange_strong(seen, kDetached, std::memory_order_acq_rel,
                                  std::memory_order_acquire);
    return seen == kSet;
  }

  // Only an event that is set can be unset; those who wait go on waiting.
  static void reset(word& state) noexcept {
    std::uintptr_t set = kSet;
    state.compare_exchange_strong(set, kUnset, std::memory_order_acq_rel,
                                  std::memory_order_relaxed);  // failed: not set
  }
};

}  // namespace weft::sync
