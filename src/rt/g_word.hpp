// g_word.hpp: a goroutine's status, and beside it who has one that waits.
//
// The word says where the goroutine is in its life and so who may touch its stack (status.hpp). While it does not wait there is one owner, and
// the owner alone writes: it stores (become). One that waits is in a list, and two may want it at once: whoever was to wake it, and somebody who
// looks at it for a moment or trims its stack (the scavenger, the census), whom no list leads there. They settle it here, by CAS:
//
//    the M that it leaves       waker                              holder
//    become(waiting)                                               CAS  waiting + marks -> waiting + marks + kTrimming
//    publish                    finds it in the list                 failed: left alone
//                               CAS  waiting + marks -> runnable   looks, trims
//                                 held: waits, tries again         store  waiting + marks + mark
//                               become(running), uses the stack
// Whichever CAS comes first, the other sees it: the waker never has a stack that is being trimmed, and the holder never one that is about
// to run. A holder takes nothing away: who was held waits, with its place in the list, and its waker tries until it is let go. The holder may
// be there before the publish step, which then runs beside it: that touches what is above the saved stack pointer, and trimming what is below.
//
// Who may change it
//   one owner (idle, runnable, running, syscall, preempted, dead, asleep): become()
//   waiting, not held: one waker, which the list has chosen: claim();  anybody: hold(), settle()
//   waiting, held (kTrimming): the holder alone: let_go()
//
// Edges
//   [g.status]  become: store release, claim: CAS release  ->  status, hold: acquire (what led to the status; where the stack pointer is).
//               The settling CAS between them is a read-modify-write, and does not interrupt it
//   [g.hold]    let_go: store release  ->  claim, the next hold: CAS acquire (who looked, or trimmed, has done so)
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "os/futex.hpp"
#include "rt/status.hpp"

namespace weft::rt {

template <class A>
class basic_g_word {
 public:
  explicit constexpr basic_g_word(g_status s) noexcept : word_(bits(s)) {}

  g_status status() const noexcept {
    return to_status(word_.load(std::memory_order_acquire));  // [g.status]
  }

  // By the owner. Not from waiting: that is claim().
  void become(g_status next) noexcept {
    // relaxed: the owner knows what it is; a check must not order what is unordered without it
    WEFT_CHECK(may_become(to_status(word_.load(std::memory_order_relaxed)), next),
               "no such step in a goroutine's life");
    word_.store(bits(next), std::memory_order_release);  // [g.status]
  }

  // waiting -> runnable, and the caller's, by the waker. while_held(): somebody has it in hand, for a moment.
  template <class WhileHeld>
  void claim(WhileHeld&& while_held) noexcept {
    std::uint32_t seen = kWaiting;
    while (!word_.compare_exchange_weak(seen, bits(g_status::runnable),
                                        std::memory_order_acq_rel,     // [g.hold] [g.status]
                                        std::memory_order_relaxed)) {  // failed: tried again
      WEFT_CHECK((seen & ~kWaitMarks) == kWaiting, "woke a goroutine that does not wait");
      if (seen & kTrimming) while_held();
      seen &= ~kTrimming;
    }
  }

  // Anybody. False: it does not wait, or somebody else holds it. True: it stays as it is until let_go().
  bool hold() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);  // whether it is worth a try
    return (seen & ~(kSettled | kTrimmed)) == kWaiting &&
           word_.compare_exchange_strong(seen, seen | kTrimming,
                                         std::memory_order_acq_rel,   // [g.hold] [g.status]
                                         std::memory_order_relaxed);  // failed: left alone
  }

  // The holder. `mark`: one of kWaitMarks that stays with it for as long as it waits.
  void let_go(std::uint32_t mark = 0) noexcept {
    // relaxed: nobody else writes it while it is held
    const std::uint32_t held = word_.load(std::memory_order_relaxed);
    word_.store((held & ~kTrimming) | mark, std::memory_order_release);  // [g.hold]
  }

  // Anybody: marks one that waits and has no mark yet. False: not this time. Relaxed: the mark hands nothing over.
  bool settle() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);  // checked by the CAS
    return seen == kWaiting &&
           word_.compare_exchange_strong(seen, kWaiting | kSettled, std::memory_order_relaxed,
                                         std::memory_order_relaxed);
  }

  // It has waited since it was settled, and nobody has seen to it. Relaxed: a hint, hold() looks again.
  bool is_settled() const noexcept {
    return word_.load(std::memory_order_relaxed) == (kWaiting | kSettled);
  }

 private:
  static constexpr std::uint32_t bits(g_status s) noexcept { return static_cast<std::uint32_t>(s); }
  static constexpr g_status to_status(std::uint32_t word) noexcept {
    return static_cast<g_status>(word & ~kWaitMarks);
  }
  static constexpr std::uint32_t kWaiting = bits(g_status::waiting);

  typename A::template atomic<std::uint32_t> word_;
};

using g_word = basic_g_word<os::futex_atomics>;

}  // namespace weft::rt
