// bubble.hpp: bubble, some goroutines with a clock of their own, which stands still while any of them is active.
//
// What a bubble is for stands in <weft/testing/bubble.hpp>. There are few at a time, in an array that is never freed: a goroutine, a channel and
// a timer know theirs by its number, in one byte, and may come late.
//
// The keeper is the goroutine in testing::bubble(). It is not in the bubble itself. It sleeps until the bubble is quiet, and only then
// touches what is not atomic here; so no lock is needed.
//
// Edges
//   [bubble.made]  made: pointer release  ->  whoever reads it: acquire
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/bubble_word.hpp"
#include "rt/g.hpp"
#include "rt/timer_heap.hpp"

namespace weft::rt {

struct bubble {
  std::uint8_t number = 0;
  // Waits for locks count as durable: nobody outside could hold one.
  bool is_closed = false;
  G* keeper = nullptr;
  std::atomic<bool> is_taken{false};

  basic_bubble_word<os::futex_atomics> active;
  std::atomic<std::uint64_t> nlive{0};  // goroutines that have not ended
  std::atomic<std::uint64_t> nstirred{
      0};  // times that somebody was started, or woken from being blocked
  std::atomic<std::int64_t> now_ns{0};  // written while it is quiet
  std::atomic<G*> waiter{nullptr};      // who is in testing::wait()
  std::atomic<bool> has_waiter{false};

  timer_heap timers;
};

// Numbers of bubbles.
inline constexpr std::uint8_t kFirstBubble = G::kProxy + 1;
inline constexpr std::uint8_t kLastBubble = G::kDurable - 1;

}  // namespace weft::rt
