// arena.cpp: see arena.hpp.

#include "stack/arena.hpp"

#include "os/vm.hpp"
#include "stack/guard.hpp"
#include "stack/instrument.hpp"

namespace weft::stack {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << kChunkBits;
constexpr std::size_t kMaxAlign = std::size_t{1} << kMaxSlotBits;
constexpr unsigned kOffsetBits = kSegmentBits - kMinSlotBits;  // of a slot_id
static_assert((kMaxSegments << kOffsetBits) < kNoSlot);

constexpr std::size_t power_of_two_within(std::size_t n) noexcept {
  std::size_t p = 1;
  while (p <= n / 2) p *= 2;
  return p;
}

// How much to ask for at first. Where address space is rationed a segment takes a small share of the ration, for the program's
// own mappings must fit as well.
std::size_t wish() noexcept {
  std::size_t bytes = std::size_t{1} << kSegmentBits;
  // mprotect guards end at some 30,000 stacks anyway; and qemu-user, which has no others, takes a second to map 64 GiB.
  if (current_guard_mode() == guard_mode::mprotect) bytes = std::size_t{1} << kMaxSlotBits;
  if (const std::size_t cap = instrumented_segment_bytes(); cap < bytes) bytes = cap;
  if (const std::size_t limit = os::address_space_limit(); limit / 16 < bytes)
    bytes = power_of_two_within(limit / 16);
  constexpr std::size_t kCharged =
      std::size_t{64} << 20;  // strict overcommit: every byte counts as if it were used
  if (bytes > kCharged && os::is_overcommit_strict()) bytes = kCharged;
  return bytes;
}

std::size_t round_to_page(std::size_t n) noexcept {
  return (n + os::page_size() - 1) & ~(os::page_size() - 1);
}

}  // namespace

std::byte* arena::carve(unsigned slot_bits) noexcept {
  const std::size_t slot_bytes = std::size_t{1} << slot_bits;
  run& r = runs_[slot_bits];
  if (r.at == r.end) {
    std::byte* const range = take_range(slot_bits);
    if (range == nullptr) return nullptr;
    r = {range, range + (slot_bytes > kChunk ? slot_bytes : kChunk)};
  }
  std::byte* const slot = r.at;
  r.at += slot_bytes;
  return slot;
}

// Address space for at least one slot of the class: from the youngest segment with room, else from a new one.
std::byte* arena::take_range(unsigned slot_bits) noexcept {
  const std::size_t slot_bytes = std::size_t{1} << slot_bits;
  const std::size_t bytes = slot_bytes > kChunk ? slot_bytes : kChunk;
  for (std::size_t i = nsegments(); i-- > 0;) {
    if (std::byte* const range = cut(segments_[i], bytes, slot_bits)) return range;
  }
  return add_segment(bytes) ? cut(segments_[nsegments() - 1], bytes, slot_bits) : nullptr;
}

std::byte* arena::cut(segment& seg, std::size_t bytes, unsigned slot_bits) noexcept {
  std::size_t at;
  if (bytes == kChunk) {
    if (seg.high - seg.low < kChunk) return nullptr;
    at = seg.low;
    seg.low += kChunk;
  } else {
    // seg.base is aligned to min(seg.bytes, 2 GiB), so an aligned offset is an aligned address.
    if (seg.high < bytes) return nullptr;
    at = (seg.high - bytes) & ~(bytes - 1);
    if (at < seg.low) return nullptr;
    seg.high = at;
  }
  for (std::size_t c = at / kChunk; c < (at + bytes) / kChunk; ++c) {
    // relaxed: whoever faults in a slot got its stack through the lock that is held here.
    std::atomic_ref(seg.chunk_class[c])
        .store(static_cast<std::uint8_t>(slot_bits), std::memory_order_relaxed);
  }
  return seg.base + at;
}

bool arena::add_segment(std::size_t min_bytes) noexcept {
  if (nsegments() == kMaxSegments) return false;
  std::size_t bytes = wish();
  if (bytes < min_bytes) bytes = min_bytes;
  for (; bytes >= min_bytes; bytes /= 2) {
    const os::mapping got = os::reserve(bytes, bytes < kMaxAlign ? bytes : kMaxAlign);
    if (got.base == nullptr) continue;
    if (adopt(got.base, bytes)) return true;
    os::unmap(got.base, bytes);
  }
  return false;
}

bool arena::adopt(std::byte* base, std::size_t bytes) noexcept {
  const std::size_t links_bytes = round_to_page((bytes >> kMinSlotBits) * sizeof(slot_id));
  const std::size_t table_bytes = links_bytes + round_to_page(bytes / kChunk);
  const os::mapping tables = os::reserve(table_bytes, os::page_size());
  if (tables.base == nullptr) return false;
  const std::uint32_t n =
      nsegments_.load(std::memory_order_relaxed);  // only we write it, under the lock
  segments_[n] = {.base = base,
                  .bytes = bytes,
                  .low = 0,
                  .high = bytes,
                  .chunk_class = reinterpret_cast<std::uint8_t*>(tables.base + links_bytes),
                  .links = reinterpret_cast<slot_id*>(tables.base)};
  reserved_bytes_ += bytes;
  nsegments_.store(n + 1, std::memory_order_release);  // [stack.segment]
  return true;
}

slot_id& arena::link(slot_id id) noexcept {
  return segments_[id >> kOffsetBits].links[id & ((slot_id{1} << kOffsetBits) - 1)];
}

void arena::push(slot_list& list, std::byte* slot) noexcept {
  std::size_t i = nsegments();
  do --i;  // every slot is in some segment
  while (slot < segments_[i].base || slot >= segments_[i].base + segments_[i].bytes);
  const auto offset = static_cast<std::size_t>(slot - segments_[i].base);
  const auto id = static_cast<slot_id>((i << kOffsetBits) | (offset >> kMinSlotBits));
  link(id) = list.first;
  list.first = id;
  ++list.n;
}

std::byte* arena::pop(slot_list& list) noexcept {
  if (list.first == kNoSlot) return nullptr;
  const slot_id id = list.first;
  list.first = link(id);
  --list.n;
  return segments_[id >> kOffsetBits].base +
         (std::size_t{id & ((slot_id{1} << kOffsetBits) - 1)} << kMinSlotBits);
}

fault arena::classify(const void* addr) const noexcept {
  const auto* const p = static_cast<const std::byte*>(addr);
  const std::uint32_t n = nsegments_.load(std::memory_order_acquire);  // [stack.segment]
  for (std::uint32_t i = 0; i < n; ++i) {
    const segment& seg = segments_[i];
    // As numbers: the address may belong to anything.
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(seg.base);
    if (offset >= seg.bytes) continue;
    const unsigned bits = std::atomic_ref(seg.chunk_class[offset / kChunk])
                              .load(std::memory_order_relaxed);  // see cut()
    if (bits == 0) break;                                        // reserved, not yet cut
    std::byte* const slot = seg.base + (offset & ~((std::size_t{1} << bits) - 1));
    head* const owner = head_of(slot, bits);
    const auto usable = static_cast<std::size_t>(owner->initial_sp() - (slot + kGuardBytes));
    return {p < slot + kGuardBytes, slot, usable, owner};
  }
  return {false, nullptr, 0, nullptr};
}

}  // namespace weft::stack
