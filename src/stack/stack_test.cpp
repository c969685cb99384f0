// stack_test.cpp: stacks as the layers above see them: sizes, reuse, caches, memory given back, threads.

#include "stack/stack.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <thread>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_TEST_ASAN 1
#endif
#endif
#if defined(WEFT_TEST_ASAN)
#include <sanitizer/asan_interface.h>
#endif

#include "stack/arena.hpp"
#include "stack/guard.hpp"
#include "stack/test_support.hpp"

namespace weft::stack {
namespace {

using test::pile;

constexpr std::size_t kMany = test::kIsSanitized ? 2'000 : 100'000;

TEST(stack, absurd_sizes_are_refused) {
  for (const std::size_t bytes :
       {std::size_t{0}, kMaxBytes + 1, SIZE_MAX, SIZE_MAX - kGuardBytes + 1}) {
    const result r = allocate(bytes);
    EXPECT_EQ(r.stack, nullptr);
    EXPECT_EQ(r.error, EINVAL);
    EXPECT_EQ(r.why, reason::bad_size);
  }
  EXPECT_EQ(init(kMaxBytes + 1), EINVAL);
}

TEST(stack, the_first_init_decides) {
  const std::size_t before = default_bytes();
  EXPECT_GE(before, kDefaultBytes);
  EXPECT_EQ(init(kMaxBytes), 0);
  EXPECT_EQ(default_bytes(), before);
}

TEST(stack, has_the_size_that_was_asked_for_less_head_and_colour) {
  for (const std::size_t bytes : {std::size_t{1}, kMinBytes, kDefaultBytes, kDefaultBytes + 1,
                                  std::size_t{5} << 20, kMaxBytes}) {
    const result r = allocate(bytes);
    ASSERT_NE(r.stack, nullptr) << explain(r.why);
    EXPECT_GE(r.stack->usable() + sizeof(head) + 15 * 64, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r.stack->initial_sp()) % 16, 0u);
    const std::size_t n = r.stack->usable() < (1 << 20) ? r.stack->usable() : 1 << 20;
    std::memset(r.stack->initial_sp() - n, 0xa5, n);
    EXPECT_EQ(r.stack->lo, r.stack->slot() + kGuardBytes) << "the head was overwritten";
    release(r.stack);
  }
}

TEST(stack, the_last_released_is_the_next_handed_out) {
  head* const a = allocate(kDefaultBytes).stack;
  head* const b = allocate(kDefaultBytes).stack;
  release(a);
  release(b);
  EXPECT_EQ(allocate(kDefaultBytes).stack, b);
  EXPECT_EQ(allocate(kDefaultBytes).stack, a);
  release(a);
  release(b);
}

#if defined(WEFT_TEST_ASAN)
TEST(stack, red_zones_of_frames_that_never_returned_are_forgotten) {
  for (int way = 0; way < 2; ++way) {
    cache c;
    head* const s = allocate(default_bytes()).stack;
    ASSERT_NE(s, nullptr);
    __asan_poison_memory_region(s->lo + 4096, 4096);
    way == 0 ? release(s) : c.push(s);
    EXPECT_EQ(__asan_region_is_poisoned(s->lo, s->usable()), nullptr);
    c.drain();
  }
}
#endif

TEST(stack, batches_reuse_stacks) {
  pile stacks;
  ASSERT_TRUE(stacks.add_many(1000, default_bytes()));
  const std::size_t ncarved = stats().ncarved;
  for (int batch = 0; batch < 20; ++batch) {
    stacks.release_all();
    ASSERT_TRUE(stacks.add_many(1000, default_bytes()));
  }
  EXPECT_EQ(stats().ncarved, ncarved);
}

TEST(stack, classify_tells_guard_stack_and_foreign_apart) {
  head* const s = allocate(kDefaultBytes).stack;
  ASSERT_NE(s, nullptr);
  EXPECT_TRUE(classify(s->slot()).in_guard);
  EXPECT_TRUE(classify(s->lo - 1).in_guard);
  EXPECT_EQ(classify(s->lo - 1).slot, s->slot());
  EXPECT_EQ(classify(s->lo - 1).usable, s->usable());
  EXPECT_EQ(classify(s->lo - 1).owner, s);
  EXPECT_FALSE(classify(s->lo).in_guard);
  EXPECT_EQ(classify(s->lo).slot, s->slot());
  EXPECT_FALSE(classify(s->initial_sp()).in_guard);
  EXPECT_NE(classify(s->slot() - 1).slot, s->slot());
  int local = 0;
  EXPECT_EQ(classify(&local).slot, nullptr);
  EXPECT_EQ(classify(nullptr).slot, nullptr);
  release(s);
}

TEST(stack, a_hundred_thousand_need_no_mapping_of_their_own) {
  init(0);
  if (current_guard_mode() != guard_mode::madvise) GTEST_SKIP() << "no MADV_GUARD_INSTALL here";
  pile stacks;
  ASSERT_TRUE(stacks.add_many(1, kDefaultBytes));
  const std::size_t before = test::count_vmas();
  ASSERT_TRUE(stacks.add_many(kMany, kDefaultBytes));
  EXPECT_LE(test::count_vmas(), before + 8) << "segments and their tables only";
  EXPECT_TRUE(test::is_guarded(stacks.first()));
}

TEST(cache, is_last_in_first_out_across_its_halves) {
  cache c;
  EXPECT_EQ(c.pop(), nullptr);
  std::vector<head*> all;
  for (std::size_t i = 0; i < kCacheMax; ++i) all.push_back(allocate(default_bytes()).stack);
  for (head* s : all) c.push(s);
  EXPECT_EQ(c.size(), kCacheMax);
  for (std::size_t i = kCacheMax; i-- > 0;) EXPECT_EQ(c.pop(), all[i]);
  EXPECT_EQ(c.pop(), nullptr);
  for (head* s : all) release(s);
}

TEST(cache, spills_the_older_half_and_takes_it_back) {
  cache c;
  std::vector<head*> order;
  for (std::size_t i = 0; i < kCacheMax + 1; ++i) order.push_back(allocate(default_bytes()).stack);
  const std::size_t before = stats().nfree_warm;
  for (head* s : order) c.push(s);
  EXPECT_EQ(c.size(), kBatch + 1);
  EXPECT_EQ(stats().nfree_warm, before + kBatch);
  for (std::size_t i = kCacheMax + 1; i-- > kBatch;) EXPECT_EQ(c.pop(), order[i]);
  const std::set<head*> spilled(order.begin(), order.begin() + kBatch);
  for (std::size_t i = 0; i < kBatch; ++i) EXPECT_TRUE(spilled.contains(c.get().stack));
  for (head* s : order) c.push(s);
  c.drain();
  EXPECT_EQ(c.size(), 0u);
  EXPECT_EQ(stats().nfree_warm, before + kCacheMax + 1);
}

TEST(cache, passes_other_sizes_to_the_pool) {
  cache c;
  head* const s = allocate(std::size_t{8} << 20).stack;
  ASSERT_NE(s, nullptr);
  c.push(s);
  EXPECT_EQ(c.size(), 0u);
  EXPECT_EQ(allocate(std::size_t{8} << 20).stack, s);
  release(s);
}

TEST(trim, keeps_what_is_live_and_the_page_below) {
  head* const s = allocate(std::size_t{4} << 20).stack;
  ASSERT_NE(s, nullptr);
  const std::size_t page = os::page_size();
  std::memset(s->lo, 0x77, s->usable());
  for (const std::size_t depth : {std::size_t{1} << 20, 10 * page + 8, page, std::size_t{0}}) {
    std::memset(s->lo, 0x77, s->usable());
    std::byte* const sp = s->initial_sp() - depth;
    const auto sp_page =
        reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(sp) & ~(page - 1));
    const std::size_t given = trim(s, sp);
    EXPECT_EQ(given, static_cast<std::size_t>(sp_page - page - s->lo));
    for (std::byte* p = sp_page - page; p < s->initial_sp(); ++p)
      ASSERT_EQ(*p, std::byte{0x77}) << s->initial_sp() - p;
    EXPECT_EQ(os::resident(s->lo, given), 0u);
    for (std::byte* p = s->lo; p < sp_page - page; p += page) ASSERT_EQ(*p, std::byte{0});
  }
  release(s);
}

TEST(trim, near_the_bottom_does_nothing) {
  head* const s = allocate(kDefaultBytes).stack;
  ASSERT_NE(s, nullptr);
  std::memset(s->lo, 0x77, s->usable());
  const std::size_t page = os::page_size();
  for (const std::size_t height : {std::size_t{0}, std::size_t{1}, page, 2 * page - 1}) {
    EXPECT_EQ(trim(s, s->lo + height), 0u);
    EXPECT_EQ(*s->lo, std::byte{0x77});
  }
  release(s);
}

TEST(trim, keeps_the_cold_fields_of_the_head) {
  head* const s = allocate(kDefaultBytes).stack;
  ASSERT_NE(s, nullptr);
  std::memset(s->cold, 0x3c, sizeof s->cold);
  trim(s, s->initial_sp());
  for (const std::byte b : s->cold) EXPECT_EQ(b, std::byte{0x3c});
  release(s);
}

TEST(scavenge, gives_memory_back_and_the_stacks_still_work) {
  constexpr std::size_t kBytes = std::size_t{16} << 20;  // a class of its own
  constexpr std::size_t kTouched = std::size_t{1} << 20;
  constexpr std::size_t n = 70;  // more than two batches
  pile stacks;
  std::set<head*> known;
  for (std::size_t i = 0; i < n; ++i) {
    head* const s = stacks.add(kBytes).stack;
    ASSERT_NE(s, nullptr);
    std::memset(s->initial_sp() - kTouched, 0x11, kTouched);
    known.insert(s);
  }
  scavenge(SIZE_MAX);
  scavenge(SIZE_MAX);  // what other tests left is gone now
  stacks.release_all();
  const std::size_t full = test::resident_bytes();
  EXPECT_EQ(scavenge(SIZE_MAX), 0u) << "they were in use since the last call";
  EXPECT_EQ(scavenge(10), 10u);
  EXPECT_EQ(scavenge(SIZE_MAX), n - 10);
  EXPECT_EQ(stats().nfree_warm, 0u);
  if (!test::kIsSanitized) {
    EXPECT_LT(test::resident_bytes() + n * kTouched * 9 / 10, full);
  }

  const std::size_t ncarved = stats().ncarved;
  for (std::size_t i = 0; i < n; ++i) {
    head* const s = stacks.add(kBytes).stack;
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(known.erase(s), 1u) << "handed out twice, or not one of ours";
    EXPECT_TRUE(test::is_guarded(s));
    std::memset(s->initial_sp() - kTouched, 0x22, kTouched);
    EXPECT_EQ(s->slot_bytes(), std::size_t{32} << 20);
  }
  EXPECT_EQ(stats().ncarved, ncarved);
}

TEST(scavenge, spares_what_was_needed_since_the_last_call) {
  constexpr std::size_t kBytes = std::size_t{32} << 20;
  pile stacks;
  ASSERT_TRUE(stacks.add_many(40, kBytes));
  stacks.release_all();
  scavenge(SIZE_MAX);
  scavenge(SIZE_MAX);
  ASSERT_TRUE(stacks.add_many(40, kBytes));
  stacks.release_all();
  scavenge(0);
  ASSERT_TRUE(stacks.add_many(25, kBytes));  // 15 lie idle
  stacks.release_all();
  EXPECT_EQ(scavenge(SIZE_MAX), 15u);
}

TEST(stack, threads_never_share_a_stack) {
  constexpr int kThreads = 6;
  constexpr int kRounds = test::kIsSanitized ? 3'000 : 10'000;
  constexpr std::size_t kHeld = 50;
  const auto count_used = [] {
    const totals t = stats();
    return t.ncarved - t.nfree_warm - t.nfree_cold;
  };
  const std::size_t nused = count_used();
  const std::uint64_t nobody = (std::random_device()() | 1ull) << 32;
  std::atomic<int> nshared{0};
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (std::uint32_t me = 1; me <= kThreads; ++me) {
    threads.emplace_back([&, me] {
      // The pool leaves `cold` alone, so a word there says who holds the stack: `nobody`, or that and a thread's number.
      // What other tests left in it means nobody as well, hence the nonce in the upper half.
      const auto exchange_owner = [nobody](head* s, std::uint64_t owner) {
        const std::uint64_t old =
            std::atomic_ref(*reinterpret_cast<std::uint64_t*>(s->cold)).exchange(owner);
        return old >> 32 == nobody >> 32 ? old : nobody;
      };
      cache mine;
      std::vector<head*> held;
      std::uint32_t random = me * 2654435761u;
      for (int round = 0; round < kRounds; ++round) {
        // Eight rounds from the pool into the cache, which spills, then eight from the cache, which refills, into the pool.
        const bool is_filling = (round / 8 + static_cast<int>(me)) % 2 == 0;
        while (held.size() < kHeld) {
          random = random * 1664525u + 1013904223u;
          const bool is_cached = ((random >> 16) % 8 == 0) == is_filling;
          const result r = is_cached
                               ? mine.get()
                               : allocate((random >> 20) % 4 == 0 ? kMinBytes : default_bytes());
          if (r.stack == nullptr || exchange_owner(r.stack, nobody + me) != nobody) {
            ++nshared;
            return;
          }
          held.push_back(r.stack);
        }
        while (held.size() > kHeld / 3) {
          random = random * 1664525u + 1013904223u;
          head* const s = held[(random >> 16) % held.size()];
          std::erase(held, s);
          if (exchange_owner(s, nobody) != nobody + me) ++nshared;
          ((random >> 8) % 8 != 0) == is_filling ? mine.push(s) : release(s);
        }
      }
      for (head* s : held) {
        exchange_owner(s, nobody);
        release(s);
      }
      mine.drain();
    });
  }
  std::thread scavenger([&] {
    while (!is_over) scavenge(20);
  });
  for (std::thread& t : threads) t.join();
  is_over = true;
  scavenger.join();
  EXPECT_EQ(nshared, 0);
  EXPECT_EQ(count_used(), nused) << "a stack was lost or doubled";
}

TEST(stack, address_space_limit_ends_in_an_error) {
  if (test::kIsSanitized || test::is_emulated())
    GTEST_SKIP() << "sanitizers and emulators do not fit under RLIMIT_AS";
  EXPECT_EXIT(
      {
        const rlim_t little = 1 << 20;  // less than the process has: nothing more can be mapped
        rlimit limit = {};
        limit.rlim_cur = limit.rlim_max = little;
        setrlimit(RLIMIT_AS, &limit);
        result got;
        do got = allocate(kMaxBytes);  // the segment that other tests made has room for some
        while (got.stack != nullptr);
        std::_Exit(
            got.stack == nullptr && got.error == ENOMEM && got.why == reason::no_address_space ? 0
                                                                                               : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::stack
