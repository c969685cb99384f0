// arena.hpp: the address space that stacks are cut from, and the arithmetic between addresses and slots.
//
// Segments of reserved memory, each a single VMA, are cut into chunks of 4 MiB. A chunk serves one class of slots, named in a byte
// table, so an address finds its slot by a table look-up and a mask: no header in the slot, no search, usable in a signal
// handler. Slots larger than a chunk take several and come from the upper end of a segment, so that their alignment wastes
// nothing between the small ones.
//
//    segment  | small slots, chunk by chunk  ->            <-  large slots |
//             base                   low      (unused)    high        base + bytes
//
// Why segments: under RLIMIT_AS or strict overcommit 64 GiB are not to be had, and a million stacks need more than 64 GiB. So the
// first try is large, halves on failure, and further segments follow on demand.
//
// Beside each segment lies a table with one link per smallest slot. It makes lists of slots whose own pages hold nothing: those
// given back to the OS, and those whose guard could not be installed yet. Untouched parts of it cost no memory.
//
// Locking: the owner of the arena holds its lock around every call except classify().
//
// Edges
//   [stack.segment]  add_segment: nsegments_ release  ->  classify: nsegments_ acquire

#pragma once

#include <atomic>

#include "base/atomics.hpp"
#include "stack/stack.hpp"

namespace weft::stack {

inline constexpr unsigned kMinSlotBits = 17;  // 128 KiB: the guard and as much again
inline constexpr unsigned kMaxSlotBits = 31;  // 2 GiB: kMaxBytes and its guard
inline constexpr unsigned kChunkBits = 22;    // 4 MiB
inline constexpr unsigned kSegmentBits = 36;  // 64 GiB, the first try
inline constexpr std::size_t kMaxSegments = 512;
inline constexpr std::size_t kColours = 16;

static_assert(kMaxBytes + kGuardBytes <= std::size_t{1} << kMaxSlotBits);
static_assert(kMinBytes + kGuardBytes <= std::size_t{1} << kMinSlotBits);

// The smallest class whose slot holds `bytes` above its guard. bytes <= kMaxBytes.
constexpr unsigned slot_bits_for(std::size_t bytes) noexcept {
  unsigned bits = kMinSlotBits;
  while ((std::size_t{1} << bits) - kGuardBytes < bytes) ++bits;
  return bits;
}

// Where the head of a slot lies. Neighbouring slots have different colours.
inline head* head_of(std::byte* slot, unsigned slot_bits) noexcept {
  const std::size_t colour = (reinterpret_cast<std::uintptr_t>(slot) >> slot_bits) % kColours;
  return reinterpret_cast<head*>(slot + (std::size_t{1} << slot_bits) - colour * base::kCacheLine -
                                 sizeof(head));
}

// Names a slot in 28 bits: the segment's index, then the offset in smallest slots.
using slot_id = std::uint32_t;
inline constexpr slot_id kNoSlot = UINT32_MAX;

// A list of slots linked outside their memory. Last in, first out.
struct slot_list {
  slot_id first = kNoSlot;
  std::size_t n = 0;
};

class arena {
 public:
  constexpr arena() noexcept = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  // A slot nobody has had yet, without guard; nullptr when no address space is left.
  std::byte* carve(unsigned slot_bits) noexcept;

  void push(slot_list& list, std::byte* slot) noexcept;
  std::byte* pop(slot_list& list) noexcept;  // nullptr when empty

  // Needs no lock. Async-signal-safe.
  fault classify(const void* addr) const noexcept;

  std::size_t reserved_bytes() const noexcept { return reserved_bytes_; }
  std::size_t nsegments() const noexcept {
    return nsegments_.load(std::memory_order_relaxed);
  }  // under the lock

 private:
  struct segment {
    std::byte* base;
    std::size_t bytes;
    std::size_t low;  // offsets: [low, high) is not yet cut
    std::size_t high;
    std::uint8_t* chunk_class;  // slot_bits per chunk; 0: not yet cut
    slot_id* links;
  };
  struct run {  // uncut slots of one class
    std::byte* at;
    std::byte* end;
  };

  std::byte* take_range(unsigned slot_bits) noexcept;
  std::byte* cut(segment& seg, std::size_t bytes, unsigned slot_bits) noexcept;
  bool add_segment(std::size_t min_bytes) noexcept;
  bool adopt(std::byte* base, std::size_t bytes) noexcept;
  slot_id& link(slot_id id) noexcept;

  segment segments_[kMaxSegments] = {};
  std::atomic<std::uint32_t> nsegments_{0};
  std::size_t reserved_bytes_ = 0;
  run runs_[kMaxSlotBits + 1] = {};
};

}  // namespace weft::stack
