// arena_test.cpp: slots, their alignment, and the way from an address back to its slot.

#include "stack/arena.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <cstdlib>
#include <set>

#include "stack/test_support.hpp"

namespace weft::stack {
namespace {

std::uintptr_t number(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

TEST(arena, the_class_is_the_smallest_that_holds_the_size_above_the_guard) {
  static_assert(slot_bits_for(1) == kMinSlotBits);
  static_assert(slot_bits_for(kGuardBytes) == kMinSlotBits);
  static_assert(slot_bits_for(kGuardBytes + 1) == kMinSlotBits + 1);
  static_assert(slot_bits_for(kDefaultBytes) == 18);
  static_assert(slot_bits_for(kDefaultBytes + 1) == 19);
  static_assert(slot_bits_for(kMaxBytes) == kMaxSlotBits);
}

TEST(arena, slots_are_aligned_disjoint_and_found_again_from_any_address_inside) {
  static arena a;
  std::set<std::pair<std::uintptr_t, std::uintptr_t>> taken;
  for (int round = 0; round < 3; ++round) {
    for (unsigned bits = kMinSlotBits; bits <= kMaxSlotBits; ++bits) {
      std::byte* const slot = a.carve(bits);
      ASSERT_NE(slot, nullptr);
      const std::size_t bytes = std::size_t{1} << bits;
      EXPECT_EQ(number(slot) % bytes, 0u);
      EXPECT_TRUE(taken.emplace(number(slot), number(slot) + bytes).second);
      for (const std::size_t offset :
           {std::size_t{0}, kGuardBytes - 1, kGuardBytes, bytes / 2 + 1, bytes - 1}) {
        const fault f = a.classify(slot + offset);
        EXPECT_EQ(f.slot, slot) << bits << " " << offset;
        EXPECT_EQ(f.in_guard, offset < kGuardBytes) << bits << " " << offset;
        EXPECT_EQ(f.owner, head_of(slot, bits));
        EXPECT_EQ(f.usable, static_cast<std::size_t>(f.owner->initial_sp() - (slot + kGuardBytes)));
      }
    }
  }
  std::uintptr_t end = 0;
  for (const auto& [from, to] : taken) {
    EXPECT_GE(from, end);
    end = to;
  }
}

TEST(arena, foreign_and_uncut_addresses_are_not_ours) {
  static arena a;
  int local = 0;
  EXPECT_EQ(a.classify(&local).slot, nullptr) << "an empty arena owns nothing";
  std::byte* const slot = a.carve(kMinSlotBits);
  ASSERT_NE(slot, nullptr);
  for (const void* p : {static_cast<const void*>(nullptr), static_cast<const void*>(&local),
                        reinterpret_cast<const void*>(UINTPTR_MAX),
                        reinterpret_cast<const void*>(std::uintptr_t{1} << 63)}) {
    const fault f = a.classify(p);
    EXPECT_EQ(f.slot, nullptr);
    EXPECT_FALSE(f.in_guard);
  }
  EXPECT_EQ(a.classify(slot + (std::size_t{1} << kChunkBits)).slot, nullptr)
      << "the next chunk has no class yet";
}

TEST(arena, large_slots_do_not_waste_the_space_between_small_ones) {
  static arena a;
  std::byte* const first = a.carve(kChunkBits);
  a.carve(kMaxSlotBits);
  EXPECT_EQ(a.carve(kChunkBits), first + (std::size_t{1} << kChunkBits));
}

TEST(arena, neighbours_have_different_colours) {
  static arena a;
  std::set<std::uintptr_t> colours;
  for (std::size_t i = 0; i < kColours; ++i) {
    std::byte* const slot = a.carve(18);
    ASSERT_NE(slot, nullptr);
    head* const h = head_of(slot, 18);
    EXPECT_EQ(number(h->initial_sp()) % 64, 0u);
    EXPECT_LE(number(h + 1), number(slot) + (1u << 18));
    EXPECT_EQ(number(h) / 4096, (number(slot) + (1u << 18) - 1) / 4096) << "not in the top page";
    colours.insert(number(h) % 4096);
  }
  EXPECT_EQ(colours.size(), kColours);
}

TEST(arena, lists_need_no_memory_of_the_slots) {
  static arena a;
  slot_list list;
  EXPECT_EQ(a.pop(list), nullptr);
  std::byte* slots[100];
  for (int i = 0; i < 100; ++i) {
    slots[i] = a.carve(i % 2 == 0 ? kMinSlotBits : 24);
    ASSERT_NE(slots[i], nullptr);
    os::protect_none(slots[i], std::size_t{1} << kMinSlotBits);
    a.push(list, slots[i]);
  }
  EXPECT_EQ(list.n, 100u);
  for (int i = 99; i >= 0; --i) EXPECT_EQ(a.pop(list), slots[i]);
  EXPECT_EQ(a.pop(list), nullptr);
  EXPECT_EQ(list.n, 0u);
}

// Carves until address space ends, under a limit of `extra` bytes more than the process has now.
void carve_under_limit(std::size_t extra, unsigned bits, std::size_t at_least) {
  static arena a;
  std::FILE* const statm = std::fopen("/proc/self/statm", "r");
  std::size_t npages = 0;
  if (std::fscanf(statm, "%zu", &npages) != 1) std::_Exit(2);
  std::fclose(statm);
  const rlim_t limit = npages * os::page_size() + extra;
  const rlimit r{limit, limit};
  if (setrlimit(RLIMIT_AS, &r) != 0) std::_Exit(3);
  std::size_t n = 0;
  while (std::byte* const slot = a.carve(bits)) {
    slot[(std::size_t{1} << bits) - 1] = std::byte{1};
    ++n;
  }
  const bool is_last_word = a.carve(bits) == nullptr;
  std::_Exit(is_last_word && n >= at_least ? 0 : 1);
}

TEST(arena, small_address_space_limits_end_in_an_error_not_in_a_crash) {
  if (test::kIsSanitized || test::is_emulated())
    GTEST_SKIP() << "sanitizers and emulators do not fit under RLIMIT_AS";
  EXPECT_EXIT(carve_under_limit(std::size_t{1} << 30, 18, 1000), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(carve_under_limit(std::size_t{64} << 20, 18, 100), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(carve_under_limit(std::size_t{1} << 20, 18, 0), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(carve_under_limit(std::size_t{1} << 30, 31, 0), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::stack
