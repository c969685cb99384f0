// poll_word.hpp: one direction of a descriptor: whoever waits for it, or the news that nobody has waited for yet.
//
// The kernel tells each change once (os/poller.hpp), so news that finds nobody is kept here, for the next one who wants to wait.
//
//   none   nobody waits, and nothing has happened since somebody last looked
//   ready  something has happened, and nobody has looked
//   else   a waiter, in its frame; there is at most one
//
//    waiter                              poller                    who closes, or moves the deadline
//    try the call: EAGAIN                told by the kernel        the wait's end changes; revision + 1
//    enter: ready -> none: try again     notify: waiter -> none,   evict: waiter -> none, wake it
//           none -> waiter                 wake it
//           revision changed? withdraw     none -> ready
//    sleep
// The call may have failed just before the change: then notify finds no waiter and leaves `ready`, which enter finds.  [poll.no_lost_event]
// The end may move just before the waiter is entered: both its step and the look at the revision are seq_cst, as are the other's step and
// look, so either the waiter sees the new revision or evict sees the waiter.  [poll.no_lost_end]
//
// Whoever turns `waiter` into something else has it to itself: it wakes the waiter, once, and the waiter goes on only then.
#pragma once

#include <cstdint>

#include "os/futex.hpp"

namespace weft::rt {

template <class A, class Waiter>
class basic_poll_word {
 public:
  // By the waiter. False: something has happened (and is taken note of): no need to wait.
  bool enter(Waiter* w) noexcept {
    std::uintptr_t seen = kNone;
    // seq_cst: before the look at the revision  [poll.no_lost_end]; acquire: what the poller knew
    if (word_.compare_exchange_strong(seen, of(w), std::memory_order_seq_cst)) return true;
    // It is ready, and only we take that away. Relaxed: the caller tries its call next, which takes a lock in the kernel that whoever
    // brings news takes as well, so notify() for later news does not see the old `ready` (tests/model/poll_word.pml, V_BARECALL).
    word_.store(kNone, std::memory_order_relaxed);
    return false;
  }

  // By the waiter. False: somebody has it in hand, and will wake it.
  // acq_rel: the frame is ours again, and the next one may enter; failed: who wakes us orders the rest.
  bool withdraw(Waiter* w) noexcept {
    std::uintptr_t seen = of(w);
    return word_.compare_exchange_strong(seen, kNone, std::memory_order_acq_rel,
                                         std::memory_order_acquire);
  }

  // By whoever was told by the kernel: the one to wake, or null.
  Waiter* notify() noexcept {
    // acquire, here and if it fails: the waiter's frame. acq_rel: also what the kernel said, to the waiter
    std::uintptr_t seen = word_.load(std::memory_order_acquire);
    for (;;) {
      if (seen == kReady) return nullptr;
      const std::uintptr_t next = seen == kNone ? kReady : kNone;
      if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return to_waiter(seen);
    }
  }

  // Asks for the waiter's frame, if there is one. Only a hint: it may have gone on meanwhile. Relaxed: a number, which nobody follows.
  void prefetch_waiter() const noexcept {
    const std::uintptr_t at = word_.load(std::memory_order_relaxed);
    if (at == kNone || at == kReady) return;
    for (std::uintptr_t line = 0; line != kFrameLines; ++line)
      __builtin_prefetch(reinterpret_cast<const void*>(at - 64 * line), 1);
  }

  // By whoever has changed the end of waits: the one to wake, or null.
  Waiter* evict() noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_seq_cst);  // [poll.no_lost_end]
    while (seen != kNone && seen != kReady) {
      // as in notify(): the waiter's frame; why it ends, to the waiter
      if (word_.compare_exchange_weak(seen, kNone, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return to_waiter(seen);
    }
    return nullptr;
  }

  // When nobody else knows it: for a new descriptor.
  void reset() noexcept { word_.store(kNone, std::memory_order_relaxed); }

 private:
  static constexpr std::uintptr_t kNone = 0;
  static constexpr std::uintptr_t kReady = 1;
  // The waiter, and what it calls to wait, whose frames lie below it.
  static constexpr std::uintptr_t kFrameLines = 4;

  static std::uintptr_t of(Waiter* w) noexcept { return reinterpret_cast<std::uintptr_t>(w); }
  static Waiter* to_waiter(std::uintptr_t word) noexcept {
    return word == kNone ? nullptr : reinterpret_cast<Waiter*>(word);
  }

  typename A::template atomic<std::uintptr_t> word_{kNone};
};

}  // namespace weft::rt
