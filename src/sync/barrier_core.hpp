// barrier_core.hpp: the barrier as a protocol, independent of what parks and wakes.
//
// One word: how many have still to come (low 31 bits), kWaiting (somebody is queued), and the number of the phase (upper half).
//
//    who waits (enter, stack already free)      the last one (next_phase), after the completion
//    lock the queue                             kWaiting set ?  lock the queue; take them all; clear it; unlock; look again
//    still that phase ? set kWaiting, enter     else CAS word -> next phase, all expected
//    unlock the queue                           wake those it took
// The phase ends in one step, with nobody queued; whoever came before is in hand, whoever comes later sees the next phase. After that step
// only records are touched, so whoever is through may destroy the barrier.  [barrier.no_touch_after_phase]
//
// Between the last arrival and the next phase nobody is expected, so whoever arrives then is one too many.
//
// Edges
//   [barrier.phase]  arrive: CAS acq_rel  ->  the last one, which passes on what all did: CAS release  ->  wait: load acquire
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "sync/wait_queue.hpp"

namespace weft::sync {

template <class A, class Waiter, class Gone>
class barrier_core {
 public:
  using word = typename A::template atomic<std::uint64_t>;
  using lock = os::basic_lock<A, os::lock_rank::waiters>;
  struct record : queue_entry<record, Waiter> {};
  using queue = wait_queue<record, Gone>;

  static constexpr std::uint64_t kWaiting = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kToCome = kWaiting - 1;
  static constexpr int kPhaseShift = 32;

  barrier_core(word& state, lock& guard, void*& first, void*& last) noexcept
      : state_(state), guard_(guard), queue_(first, last) {}

  static std::uint32_t phase_of(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state >> kPhaseShift);
  }

  // n have come. left: how many are still to come; below zero: they were too many, and nothing was changed.
  struct arrival {
    std::uint32_t phase;
    std::int64_t left;
  };
  arrival arrive(std::uint32_t n) noexcept {
    std::uint64_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    for (;;) {
      const std::int64_t left = static_cast<std::int64_t>(seen & kToCome) - n;
      if (left < 0) return {phase_of(seen), left};
      if (state_.compare_exchange_weak(seen, seen - n,
                                       std::memory_order_acq_rel,   // [barrier.phase]
                                       std::memory_order_relaxed))  // failed: tried again
        return {phase_of(seen), left};
    }
  }

  // By the last one of a phase.
  template <class Wake>
  void next_phase(std::uint32_t expected, Wake&& wake) noexcept {
    wake_list<record> through;
    std::uint64_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    for (;;) {
      if ((seen & kWaiting) != 0) {
        take_all(through);
        seen = state_.load(std::memory_order_relaxed);  // as above
        continue;
      }
      const std::uint64_t next = std::uint64_t{phase_of(seen) + 1u} << kPhaseShift | expected;
      if (state_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,  // [barrier.phase]
                                       std::memory_order_relaxed))  // failed: tried again
        break;
    }
    through.wake_all(wake);
  }

  // Enters `mine` among those who wait for the end of that phase. False: it has ended.
  bool enter(record* mine, std::uint32_t phase) noexcept {
    const os::lock_guard hold(guard_);
    std::uint64_t seen = state_.load(std::memory_order_acquire);  // [barrier.phase]
    do {
      if (phase_of(seen) != phase) return false;
    } while (!state_.compare_exchange_weak(seen, seen | kWaiting, std::memory_order_acquire,
                                           std::memory_order_acquire));  // [barrier.phase]
    queue_.push_back(mine);
    return true;
  }

 private:
  void take_all(wake_list<record>& through) noexcept {
    const os::lock_guard hold(guard_);
    while (record* const r = queue_.take()) through.add(r);
    state_.fetch_and(~kWaiting, std::memory_order_relaxed);  // under the lock
  }

  word& state_;
  lock& guard_;
  queue queue_;
};

}  // namespace weft::sync
