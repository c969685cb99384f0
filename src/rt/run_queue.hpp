// run_queue.hpp: the runnable goroutines of one P: a bounded ring and one place at the front.
//
// Why a ring and not a deque: the owner pops from the same end thieves steal from (FIFO), so one index is contended and
// the other is private, and no operation ever allocates.
// Why the place at the front (`next`): a goroutine that was just made runnable by the running one runs right after it,
// while its data is still in the cache, and a pair that takes turns never touches the ring.
//
// Owner: the M that holds the P. It alone calls push, pop, set_next, take_next and spill_half. Ownership moves with the P,
// and [p.handoff] makes the old owner's writes visible to the new one. Where there is but one P there are no thieves, and the
// owner says so (`alone`): then it needs no locked instruction. The number of Ps changes only while the world is stopped.
// Thieves: any M that holds another P. They call steal_into(), on their own queue as destination.
//
// Invariants
//   R1  head_ <= tail_ <= head_ + Capacity   (the indices only grow, and wrap; they are reduced on use)
//   R2  slots in [head_, tail_) and next_ hold runnable goroutines, each in exactly one place
//   R3  only the owner writes slots and tail_; whoever moves head_ past a slot by CAS has its content
//
// A slot read before the CAS may be overwritten while it is read, if the owner has gone round; then head_ has moved too, the
// CAS fails and what was read is thrown away. Indices wrap at 2^32: for the CAS to succeed wrongly, a thief would have to
// sleep while exactly 2^32 goroutines pass.
//
// Edges
//   [runq.publish]  push: tail_ release                ->  steal_into: tail_ acquire
//   [runq.consume]  pop/steal/spill: head_ CAS release ->  push, steal_into(mine): head_ acquire
//   [runq.next]     set_next: exchange                 ->  take_next, steal_into: CAS
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"

namespace weft::rt {

template <class A, class T, std::uint32_t Capacity = 256>
class basic_run_queue {
  static_assert((Capacity & (Capacity - 1)) == 0, "indices are reduced by a mask");

 public:
  static constexpr std::uint32_t kCapacity = Capacity;
  static constexpr std::uint32_t kSpill = Capacity / 2;

  basic_run_queue() noexcept = default;
  basic_run_queue(const basic_run_queue&) = delete;
  basic_run_queue& operator=(const basic_run_queue&) = delete;

  // Appends gp, or returns false when the ring is full and the caller must spill. Owner only.
  bool push(T* gp) noexcept {
    const std::uint32_t head = head_.load(std::memory_order_acquire);  // [runq.consume]
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // the owner wrote it last
    if (tail - head >= Capacity) return false;
    slot(tail).store(gp, std::memory_order_relaxed);   // made visible by the next line
    tail_.store(tail + 1, std::memory_order_release);  // [runq.publish]
    return true;
  }

  // Takes the oldest of the ring, or null. Owner only.
  T* pop(bool alone = false) noexcept {
    std::uint32_t head = head_.load(std::memory_order_acquire);  // [runq.consume] by thieves
    if (alone) {
      if (tail_.load(std::memory_order_relaxed) == head) return nullptr;  // the owner wrote it last
      T* const gp = slot(head).load(std::memory_order_relaxed);           // the owner wrote it
      head_.store(head + 1,
                  std::memory_order_release);  // [runq.consume], by thieves that come later
      return gp;
    }
    for (;;) {
      const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // the owner wrote it last
      if (tail == head) return nullptr;
      T* const gp = slot(head).load(std::memory_order_relaxed);  // the owner wrote it
      // release: push() may reuse the slot only after it was read; acquire: the next try
      if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        return gp;
      }
    }
  }

  // pop() and push(gp) in one. False: the ring is empty, and gp is not in it. Owner only, with no thief about.
  bool rotate(T*& gp) noexcept {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);  // no thief: written by us
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // the owner wrote it last
    if (head == tail) return false;
    T* const oldest = slot(head).load(std::memory_order_relaxed);  // the owner wrote it
    slot(tail).store(gp, std::memory_order_relaxed);               // made visible by the next line
    tail_.store(tail + 1, std::memory_order_release);  // [runq.publish], to thieves that come later
    head_.store(head + 1, std::memory_order_release);  // [runq.consume], likewise
    gp = oldest;
    return true;
  }

  // Puts gp at the front and returns whom it displaced. Owner only.
  // seq_cst: also the submitter's half of [idle.no_lost_wake], see sched/README.md.
  T* set_next(T* gp, bool alone = false) noexcept {
    if (alone) {  // with no other P there is no idler either
      T* const displaced = next_.load(std::memory_order_relaxed);
      next_.store(gp, std::memory_order_release);  // [runq.next], to thieves that come later
      return displaced;
    }
    return next_.exchange(gp, std::memory_order_seq_cst);  // [runq.next]
  }

  // Takes the front, or null. Owner only; a thief may come between.
  T* take_next(bool alone = false) noexcept {
    T* gp = next_.load(
        std::memory_order_relaxed);  // only a thief may change it, to null, and the CAS sees that
    if (gp == nullptr) return nullptr;
    if (alone) {
      next_.store(nullptr, std::memory_order_relaxed);  // nobody else looks
      return gp;
    }
    return next_.compare_exchange_strong(
               gp, nullptr, std::memory_order_acq_rel,
               std::memory_order_relaxed)  // [runq.next]; failed: nothing taken
               ? gp
               : nullptr;
  }

  // Takes the older half out of a full ring, into out[0..kSpill). False: thieves made room meanwhile. Owner only.
  bool spill_half(T** out) noexcept {
    std::uint32_t head = head_.load(std::memory_order_acquire);  // [runq.consume]
    if (tail_.load(std::memory_order_relaxed) - head < Capacity)
      return false;  // the owner wrote it
    for (std::uint32_t i = 0; i < kSpill; ++i) {
      out[i] = slot(head + i).load(std::memory_order_relaxed);  // the owner wrote it
    }
    return head_.compare_exchange_strong(
        head, head + kSpill, std::memory_order_acq_rel,
        std::memory_order_relaxed);  // [runq.consume]; failed: caller pushes again
  }

  // Moves half of `victim` into this queue, which must be empty, and returns one of them to run now, or null.
  // with_next: if its ring is empty take even the goroutine at its front, and say so. Called by this queue's owner.
  T* steal_into(basic_run_queue& victim, bool with_next, bool* took_next = nullptr) noexcept {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // the owner wrote it
    std::uint32_t n = grab(victim, tail);
    if (n == 0) {
      T* const next = with_next ? steal_next(victim) : nullptr;
      if (next != nullptr && took_next != nullptr) *took_next = true;
      return next;
    }
    --n;  // the last one is run, not queued
    T* const gp = slot(tail + n).load(std::memory_order_relaxed);  // just written by us
    if (n != 0) tail_.store(tail + n, std::memory_order_release);  // [runq.publish]
    return gp;
  }

  // Anyone. Never says "empty" while a goroutine moves from the front to the ring: the tail is read twice.
  // seq_cst: also the idler's half of [idle.no_lost_wake].
  bool is_empty() const noexcept {
    for (;;) {
      const std::uint32_t head = head_.load(std::memory_order_seq_cst);
      const std::uint32_t tail = tail_.load(std::memory_order_seq_cst);
      const T* const next = next_.load(std::memory_order_seq_cst);
      if (tail == tail_.load(std::memory_order_seq_cst)) return head == tail && next == nullptr;
    }
  }

  // Who stands n places behind the oldest of the ring, or null. Owner only; a thief may just be taking it: for preparations.
  const T* ahead(std::uint32_t n) const noexcept {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);  // only a hint
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);  // the owner wrote it last
    if (tail - head <= n) return nullptr;
    return ring_[(head + n) % Capacity].load(std::memory_order_relaxed);  // the owner wrote it
  }

  bool has_next() const noexcept {
    return next_.load(std::memory_order_relaxed) != nullptr;
  }  // a hint

  // Length of the ring; exact for the owner with no thief about, else a hint.
  std::uint32_t ring_size() const noexcept {
    const std::uint32_t head = head_.load(std::memory_order_acquire);
    const std::uint32_t tail = tail_.load(std::memory_order_acquire);
    return tail - head;
  }

 private:
  using slot_type = typename A::template atomic<T*>;

  slot_type& slot(std::uint32_t index) noexcept { return ring_[index % Capacity]; }

  // Copies half of the victim's ring to our slots from `tail` on and claims them. Our tail is moved by the caller.
  std::uint32_t grab(basic_run_queue& victim, std::uint32_t tail) noexcept {
    std::uint32_t head = victim.head_.load(std::memory_order_acquire);  // [runq.consume]
    for (;;) {
      const std::uint32_t victim_tail =
          victim.tail_.load(std::memory_order_acquire);  // [runq.publish]
      std::uint32_t n = victim_tail - head;
      n -= n / 2;
      if (n == 0) return 0;
      if (n > Capacity / 2) {  // head and tail belong to different moments: look again
        head = victim.head_.load(std::memory_order_acquire);  // [runq.consume]
        continue;
      }
      for (std::uint32_t i = 0; i < n; ++i) {
        // relaxed both: thrown away if the CAS fails, published by our tail_ if it does not
        slot(tail + i).store(victim.slot(head + i).load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
      }
      if (victim.head_.compare_exchange_strong(head, head + n, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {  // [runq.consume]
        return n;
      }
    }
  }

  T* steal_next(basic_run_queue& victim) noexcept {
    T* gp = victim.next_.load(std::memory_order_acquire);  // [runq.next], by the CAS
    if (gp == nullptr) return nullptr;
    return victim.next_.compare_exchange_strong(gp, nullptr, std::memory_order_acq_rel,
                                                std::memory_order_relaxed)  // [runq.next]
               ? gp
               : nullptr;
  }

  // Thieves write head_, the owner tail_: each on a line of its own.
  alignas(base::kCacheLine) typename A::template atomic<std::uint32_t> head_{0};
  alignas(base::kCacheLine) typename A::template atomic<std::uint32_t> tail_{0};
  slot_type next_{nullptr};
  alignas(base::kCacheLine) slot_type ring_[Capacity]{};
};

}  // namespace weft::rt
