// timer_slab_test.cpp: the memory of timers: handed out once, idle, used again with its numbers going on.
#include "rt/timer_slab.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "rt/timer_heap.hpp"

namespace weft::rt {
namespace {

void nothing(timer*, void*, std::uint64_t) {}

std::vector<timer*> members(timer_chain chain) {
  std::vector<timer*> all;
  for (timer* t = chain.first; t != nullptr; t = t->link) all.push_back(t);
  return all;
}

TEST(timer_slab, gives_as_many_as_asked_for_each_idle_on_its_own_line) {
  const timer_chain chain = take_free_timers(10'000);  // more than one chunk
  EXPECT_EQ(chain.count, 10'000u);
  const auto all = members(chain);
  EXPECT_EQ(std::set<timer*>(all.begin(), all.end()).size(), 10'000u);
  for (const timer* t : all) {
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(t) % 64, 0u);
    ASSERT_EQ(t->state(), timer_state::idle);
    ASSERT_EQ(t->fire, nullptr);
    ASSERT_EQ(t->release, nullptr);
  }
  put_free_timers(chain);
}

TEST(timer_slab, uses_what_was_given_back_before_it_takes_more) {
  const timer_chain first = take_free_timers(50);
  const auto before = members(first);
  const std::set<timer*> given(before.begin(), before.end());
  put_free_timers(first);
  const timer_chain second = take_free_timers(50);
  for (timer* t : members(second)) EXPECT_TRUE(given.contains(t));
  put_free_timers(second);
}

TEST(timer_slab, of_nothing_nothing_comes_back) {
  put_free_timers({});
  const timer_chain none = take_free_timers(0);
  EXPECT_EQ(none.first, nullptr);
  EXPECT_EQ(none.count, 0u);
}

// The node has a new user; whoever still knows its old number cannot touch it.
TEST(timer_slab, a_stale_cancel_does_not_hit_the_next_user) {
  timer_heap heap;
  timer* const t = take_timer();
  ASSERT_NE(t, nullptr);
  t->fire = &nothing;
  t->release = &give_back_timer;
  const std::uint64_t stale = heap.arm(t, 10).seq;
  ASSERT_TRUE(timer_heap::cancel(t, stale));
  heap.tidy();  // dropped, released, free
  timer* const again = take_timer();
  ASSERT_EQ(again, t) << "the last one given back comes first";
  EXPECT_EQ(again->release, nullptr);
  again->fire = &nothing;
  again->release = &give_back_timer;
  const std::uint64_t fresh = heap.arm(again, 20).seq;
  EXPECT_NE(fresh, stale);
  EXPECT_FALSE(timer_heap::cancel(t, stale));
  std::array<timer_heap::due, 1> out{};
  ASSERT_EQ(heap.pop_due(20, out), 1u);
  EXPECT_EQ(out[0].seq, fresh);
  EXPECT_FALSE(timer_heap::cancel(t, fresh));
  release_timer(again);
  heap.clear();
}

TEST(timer_slab_race, threads_never_get_the_same_node) {
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n) {
    threads.emplace_back([] {
      for (int i = 0; i < 2000; ++i) {
        const timer_chain chain = take_free_timers(1 + static_cast<std::uint32_t>(i % 5));
        for (timer* t : members(chain))
          t->when_ns = i;  // ours: ThreadSanitizer would see another owner
        put_free_timers(chain);
      }
    });
  }
  for (auto& t : threads) t.join();
}

}  // namespace
}  // namespace weft::rt
