// uring_news.hpp: what the helper of the io_uring poller has been told by the kernel, for those who wait for it.
//
// A queue of slots, first come first served. A slot stands in it at most once: what happens to a descriptor before anybody was told of
// the last change is told together with it, so the queue cannot overflow.
//
// Waiting: `nnews_` counts whatever a waiter should come back for, `nasleep_` those who sleep on it.
//
//    waiter                                    helper, or who interrupts
//    nasleep_ + 1                              into the queue; or is_interrupted_ = true
//    seen = nnews_                             nnews_ + 1
//    anything in the queue? interrupted?       nasleep_ != 0: wake one
//    sleep while nnews_ == seen
// All seq_cst. If the count moved before `seen` was read, what it counts is found by the look that follows; else the waiter was counted before
// that, and is woken or does not fall asleep.  [uring.no_lost_news]
//
// Edges
//   What happened before add() is visible to whoever is told (poller.hpp): the slot goes to the helper by [uring.wish] and on by [lock].
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "os/lock.hpp"
#include "os/poll_event.hpp"
#include "os/uring_slots.hpp"

namespace weft::os {

class uring_news {
 public:
  constexpr uring_news() noexcept = default;

  struct item {
    uring_slot* slot;
    std::uint32_t changes;  // the kernel's bits
  };
  // By the helper.
  void tell(std::span<const item> items) noexcept;
  // By the helper: of this one nothing more is told.
  void drop(uring_slot* slot) noexcept;

  // As poller::wait and poller::interrupt.
  std::size_t wait(std::span<poll_event> events, std::int64_t deadline_ns) noexcept;
  void interrupt() noexcept;

 private:
  std::size_t take(std::span<poll_event> events) noexcept;
  void wake_one() noexcept;

  lock<lock_rank::libraries> lock_;   // a leaf
  uring_slot* first_ = nullptr;       // lock_
  uring_slot* last_ = nullptr;        // lock_
  std::atomic<bool> has_any_{false};  // written under lock_
  std::atomic<bool> is_interrupted_{false};
  std::atomic<std::uint32_t> nnews_{0};  // a futex word
  std::atomic<std::uint32_t> nasleep_{0};
};

}  // namespace weft::os
