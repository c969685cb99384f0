// note.hpp: one thread sleeps until another says so.
//
// A note is a flag with a bed. One owner sleeps on it; anyone may wake it, also before it sleeps: the wake-up is then
// found when it comes. Several wake-ups before one sleep count as one.
//
//    sleeper                         waker
//    CAS empty -> asleep             exchange -> set
//    futex_wait while asleep         was it asleep? futex_wake
// If the exchange comes first, the CAS fails and the sleeper does not sleep; if the CAS comes first, the exchange
// returns `asleep` and the waker calls the kernel, which rechecks the word: no wake-up is lost.  [note.no_lost_wake]
//
// The wake-up is taken with an exchange, not a store, since a second waker may come between the look and the taking:
//
//    sleeper                         second waker
//    reads `set`, of the first
//                                    work = 1
//                                    exchange -> set (was set: it will be seen)
//    set -> empty
//    reads work: 0, and sleeps again
// With a store the last two can be exchanged by the CPU, x86's too: the store waits in its buffer while `work` is read. With an
// exchange whoever came before it has been heard (acquire), and whoever comes after finds `empty`, and is found by the next sleep.
//
// The waker may touch the note after the sleeper has gone on (the futex call), so a note lies in type-stable memory.
//
// Edges
//   [note.wake]  wake: exchange release  ->  sleep, begin_elsewhere, end_elsewhere: exchange acquire
#pragma once

#include <cstdint>

#include "os/futex.hpp"

namespace weft::os {

template <class A>
class basic_note {
 public:
  // Owner only. Returns when woken, and takes the wake-up with it. False: the deadline passed first.
  bool sleep(std::int64_t deadline_ns = kNoDeadline) noexcept {
    std::uint32_t seen = kEmpty;
    // relaxed: nothing is handed over; take() acquires
    if (!state_.compare_exchange_strong(seen, kAsleep, std::memory_order_relaxed)) {
      take();  // seen == kSet
      return true;
    }
    while (state_.load(std::memory_order_relaxed) == kAsleep) {  // take() acquires
      if (A::wait(state_, kAsleep, deadline_ns)) continue;
      seen = kAsleep;
      // relaxed: nothing was handed over
      if (state_.compare_exchange_strong(seen, kEmpty, std::memory_order_relaxed)) return false;
      // woken at the last moment: the loop condition ends it
    }
    take();
    return true;
  }

  // True: the owner sleeps elsewhere, and the caller wakes it there.
  bool wake() noexcept {
    const std::uint32_t before = state_.exchange(kSet, std::memory_order_release);  // [note.wake]
    if (before == kAsleep) A::wake(state_, 1);
    return before == kElsewhere;
  }

  // Owner only: it is going to sleep on something else, from which a waker can fetch it. False: it was woken already, and takes that.
  bool begin_elsewhere() noexcept {
    std::uint32_t seen = kEmpty;
    // relaxed: as in sleep()
    if (state_.compare_exchange_strong(seen, kElsewhere, std::memory_order_relaxed)) return true;
    take();  // seen == kSet
    return false;
  }
  // It is back, and takes a wake-up with it. One who woke it may still be about to fetch it: the other thing is used to that.
  void end_elsewhere() noexcept { take(); }

  // Forgets a wake-up. When nobody sleeps and nobody will wake: the note gets a new owner (relaxed: by an edge of its own).
  void clear() noexcept { state_.store(kEmpty, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kEmpty = 0;
  static constexpr std::uint32_t kSet = 1;
  static constexpr std::uint32_t kAsleep = 2;
  static constexpr std::uint32_t kElsewhere = 3;

  // Takes the wake-up that is there, and all that came with it.
  void take() noexcept { state_.exchange(kEmpty, std::memory_order_acquire); }  // [note.wake]

  typename A::template atomic<std::uint32_t> state_{kEmpty};
};

using note = basic_note<futex_atomics>;

}  // namespace weft::os
