// timer.hpp: timer, one appointment: at this time, call that.
//
// A node of a timer heap (timer_heap.hpp). It lies where its owner chose: in the frame of a goroutine that sleeps and that only
// this timer wakes, or in type-stable memory (timer_slab.hpp) if it may be cancelled, since a cancelled node stays in the heap
// for a while after its owner has gone on.
//
// The word says who owns the node, and which arming it is in:
//
//   idle       in no heap; its owner's. Only now may fire, arg and release be written, or the node be freed
//   armed      in a heap, which owns it. It will fire, unless somebody's cancel() comes first
//   cancelled  still in the heap, which owns it until it calls release(); it will not fire
//   cleared    the same, but nobody has cancelled it: the heap is emptied, since the runtime ends, or the bubble
//
//              arm                      pop_due (CAS)
//     idle -----------> armed(seq) ------------------------> idle: fire(node, arg, seq) follows
//      ^                   |  cancel, clear (CAS)
//      |                   +----------------> cancelled(seq), cleared(seq)
//      +--- dropped by the heap, which then calls release(node, which) ---+
//
// So each arming has one end, and somebody who knows of it: whoever cancelled it, fire(), or release() with `cleared`.
//
// Each arming has its own number, seq. cancel() names it, so that a late one does not hit the next user of the node (ABA): the
// number would have to come round at 2^62.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/futex.hpp"

namespace weft::rt {

template <class A>
class basic_timer_heap;

enum class timer_state : std::uint8_t { idle, armed, cancelled, cleared };

template <class A>
struct basic_timer {
  // Called after the node has become idle, outside all locks: it may arm or free the node. `seq` is the arming that is over.
  using fire_fn = void (*)(basic_timer* node, void* arg, std::uint64_t seq);
  // Called when a node that will not fire has left the heap and is idle, outside all locks, by whichever thread met it. `was`: cancelled, or
  // cleared: then whoever armed it does not know yet.
  using release_fn = void (*)(basic_timer* node, timer_state was);

  // The owner's, written while idle.
  fire_fn fire = nullptr;
  void* arg = nullptr;
  release_fn release = nullptr;  // may be null: then the owner watches state()
  basic_timer* link = nullptr;   // the next one in a chain of idle nodes; while armed the heap's

  // The heap's while it is armed, cancelled or cleared.
  std::int64_t when_ns = 0;
  std::uint64_t order = 0;  // which of two at the same time was armed first
  typename A::template atomic<basic_timer_heap<A>*> heap{nullptr};

  typename A::template atomic<std::uint64_t> word{0};

  static constexpr std::uint64_t pack(std::uint64_t seq, timer_state s) noexcept {
    return seq << 2 | static_cast<std::uint64_t>(s);
  }
  static constexpr timer_state state_of(std::uint64_t word) noexcept {
    return static_cast<timer_state>(word & 3);
  }
  static constexpr std::uint64_t seq_of(std::uint64_t word) noexcept { return word >> 2; }

  // Anyone. Once it says idle, what the heap did to the node is over.  [timer.idle]
  timer_state state() const noexcept { return state_of(word.load(std::memory_order_acquire)); }
  // The present arming, or the last. Exact for whoever owns the node.
  std::uint64_t seq() const noexcept { return seq_of(word.load(std::memory_order_acquire)); }
};

using timer = basic_timer<os::futex_atomics>;
static_assert(sizeof(timer) == 64, "one cache line: it is touched once to arm and once to fire");

}  // namespace weft::rt
