// quad_heap_test.cpp: earliest first, first come first among equals, children on one cache line, memory that breathes.
#include "rt/quad_heap.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "os/vm.hpp"

namespace weft::rt {
namespace {

struct item {
  std::uint64_t order = 0;
};
using heap = quad_heap<item>;

std::vector<item> items(std::size_t n) {
  std::vector<item> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i].order = i;
  return all;
}

void push(heap& h, std::int64_t when, item& i) {
  ASSERT_TRUE(h.reserve(1));
  h.push(when, &i);
}

TEST(quad_heap, the_four_children_of_a_node_share_a_cache_line) {
  heap h;
  auto all = items(300);
  for (auto& i : all) push(h, 0, i);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(h.children_of_root()) % 64, 0u);
  h.reset();
}

TEST(quad_heap, gives_every_size_back_in_order) {
  base::rng rng(3);
  for (std::size_t n = 0; n < 100; ++n) {
    heap h;
    auto all = items(n);
    std::multiset<std::pair<std::int64_t, std::uint64_t>> expected;
    for (auto& i : all) {
      const std::int64_t when = rng.below(20);  // many equal ones
      expected.emplace(when, i.order);
      push(h, when, i);
      ASSERT_TRUE(h.is_ordered());
    }
    for (const auto& [when, order] : expected) {
      ASSERT_FALSE(h.empty());
      ASSERT_EQ(h.top().when_ns, when);
      ASSERT_EQ(h.top().node->order, order) << "among equals, the first that came";
      h.pop_top();
      ASSERT_TRUE(h.is_ordered());
    }
    ASSERT_TRUE(h.empty());
    h.reset();
  }
}

TEST(quad_heap, knows_the_ends_of_time) {
  heap h;
  auto all = items(5);
  const std::int64_t times[] = {INT64_MAX, INT64_MIN, 0, INT64_MAX - 1, INT64_MIN + 1};
  for (std::size_t i = 0; i < 5; ++i) push(h, times[i], all[i]);
  for (const std::int64_t when :
       {INT64_MIN, INT64_MIN + 1, std::int64_t{0}, INT64_MAX - 1, INT64_MAX}) {
    EXPECT_EQ(h.top().when_ns, when);
    h.pop_top();
  }
  h.reset();
}

bool is_no_third(const item* i) { return i->order % 3 != 0; }

TEST(quad_heap, keep_if_drops_the_others_and_asks_for_each) {
  base::rng rng(5);
  for (const std::size_t n : {0u, 1u, 2u, 5u, 21u, 1000u}) {
    heap h;
    auto all = items(n);
    for (auto& i : all) push(h, rng.below(50), i);
    std::set<item*> asked;
    EXPECT_EQ(h.keep_if(h.size(), SIZE_MAX,
                        [&](item* i) {
                          asked.insert(i);
                          return is_no_third(i);
                        }),
              0u);
    EXPECT_EQ(asked.size(), n);
    EXPECT_EQ(h.size(), n - (n + 2) / 3);
    EXPECT_TRUE(h.is_ordered());
    EXPECT_FALSE(h.any_of([](const item* i) { return !is_no_third(i); }));
    h.reset();
  }
}

// Between two slices some are taken from the top, which hides nobody; or some are pushed, which may hide one each.
TEST(quad_heap, keep_if_in_slices_misses_no_more_than_were_pushed_meanwhile) {
  base::rng rng(7);
  for (const std::size_t npushed : {0u, 1u, 3u}) {
    for (const std::size_t slice : {1u, 2u, 7u, 100u}) {
      constexpr std::size_t kMany = 600;
      heap h;
      auto all = items(kMany);
      auto late = items(npushed * 4 * kMany);
      for (auto& i : all) push(h, 1000 + rng.below(500), i);
      std::size_t nlate = 0;
      std::size_t nasked = 0;
      for (std::size_t end = h.size(); end != 0;) {
        const std::size_t before = nasked;
        end = h.keep_if(end, slice, [&](item* i) {
          ++nasked;
          return is_no_third(i);
        });
        ASSERT_LE(nasked - before, slice);
        ASSERT_TRUE(h.is_ordered());
        if (rng.below(4) == 0 && !h.empty()) h.pop_top();
        for (std::size_t i = 0; i < npushed; ++i) {
          item& one = late[nlate++];
          one.order = 3 * kMany + 1;  // to be kept
          push(h, rng.below(1600), one);
        }
      }
      std::size_t nmissed = 0;
      h.for_each([&](const item* i) { nmissed += is_no_third(i) ? 0 : 1; });
      EXPECT_LE(nmissed, nlate) << "in slices of " << slice;
      h.reset();
    }
  }
}

TEST(quad_heap, takes_all_of_another_many_or_few) {
  base::rng rng(6);
  for (const std::size_t n : {0u, 1u, 10u, 500u}) {
    for (const std::size_t m : {0u, 1u, 10u, 500u}) {
      heap a;
      heap b;
      auto mine = items(n);
      auto others = items(m);
      for (auto& i : mine) push(a, rng.below(100), i);
      for (auto& i : others) push(b, rng.below(100), i);
      ASSERT_TRUE(a.take_all(b));
      EXPECT_TRUE(b.empty());
      EXPECT_EQ(a.size(), n + m);
      EXPECT_TRUE(a.is_ordered());
      std::set<item*> found;
      a.for_each([&](item* i) { found.insert(i); });
      EXPECT_EQ(found.size(), n + m);
      a.reset();
      b.reset();
    }
  }
}

TEST(quad_heap, memory_doubles_shrinks_and_does_not_flutter) {
  heap h;
  auto all = items(5000);
  EXPECT_EQ(h.bytes(), 0u);
  for (auto& i : all) push(h, static_cast<std::int64_t>(i.order), i);
  const std::size_t full = h.bytes();
  EXPECT_GE(full, 5000u * 16);
  EXPECT_LT(full, 5000u * 16 * 2 + os::page_size());
  while (h.size() > 4000) h.pop_top();
  h.shrink_if_sparse();
  EXPECT_EQ(h.bytes(), full) << "most of it is in use";
  while (h.size() > 100) h.pop_top();
  h.shrink_if_sparse();
  const std::size_t small = h.bytes();
  EXPECT_LT(small, full);
  EXPECT_GE(small, 103u * 16);
  ASSERT_TRUE(h.reserve(100));
  EXPECT_EQ(h.bytes(), small) << "as many again fit without growing";
  for (std::int64_t i = 4900; !h.empty(); ++i) {
    ASSERT_EQ(h.top().when_ns, i);
    h.pop_top();
  }
  h.shrink_if_sparse();
  EXPECT_GT(h.bytes(), 0u) << "the last page stays";
  h.reset();
  EXPECT_EQ(h.bytes(), 0u);
}

TEST(quad_heap, refuses_what_the_kernel_does_not_give_and_stays_as_it_was) {
  heap h;
  auto all = items(2);
  push(h, 7, all[0]);
  EXPECT_FALSE(h.reserve(std::size_t{1} << 57));
  EXPECT_EQ(h.size(), 1u);
  EXPECT_EQ(h.top().when_ns, 7);
  push(h, 3, all[1]);
  EXPECT_EQ(h.top().when_ns, 3);
  h.reset();
}

}  // namespace
}  // namespace weft::rt
