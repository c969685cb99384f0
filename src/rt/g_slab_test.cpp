// g_slab_test.cpp: the memory of goroutines: handed out once, found by the walk, used again.
#include "rt/g_slab.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace weft::rt {
namespace {

std::vector<G*> members(g_chain chain) {
  std::vector<G*> all;
  for (G* gp = chain.first; gp != nullptr; gp = gp->link) all.push_back(gp);
  return all;
}

TEST(g_slab, gives_as_many_as_asked_for_each_dead_aligned_and_nobody) {
  const g_chain chain = take_free(100);
  EXPECT_EQ(chain.count, 100u);
  const auto all = members(chain);
  EXPECT_EQ(std::set<G*>(all.begin(), all.end()).size(), 100u);
  for (const G* gp : all) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(gp) % 64, 0u);
    EXPECT_EQ(gp->status(), g_status::dead);
    EXPECT_EQ(gp->goid.load(), 0u);
  }
  put_free(chain);
}

TEST(g_slab, uses_what_was_given_back_before_it_takes_more) {
  const g_chain first = take_free(50);
  const auto before = members(first);
  const std::set<G*> given(before.begin(), before.end());
  put_free(first);
  const g_chain second = take_free(50);
  for (G* gp : members(second)) EXPECT_TRUE(given.contains(gp));
  put_free(second);
}

TEST(g_slab, the_walk_meets_every_g_once) {
  const g_chain chain = take_free(20'000);  // more than one chunk
  ASSERT_EQ(chain.count, 20'000u);
  std::set<G*> met;
  bool twice = false;
  struct state {
    std::set<G*>& met;
    bool& twice;
  } s{met, twice};
  for_each_g(
      [](G* gp, void* arg) {
        auto& seen = *static_cast<state*>(arg);
        if (!seen.met.insert(gp).second) seen.twice = true;
      },
      &s);
  EXPECT_FALSE(twice);
  for (G* gp : members(chain)) EXPECT_TRUE(met.contains(gp));
  put_free(chain);
}

TEST(g_slab, of_nothing_nothing_comes_back) {
  put_free({});
  const g_chain none = take_free(0);
  EXPECT_EQ(none.first, nullptr);
  EXPECT_EQ(none.count, 0u);
}

TEST(g_slab_race, threads_never_get_the_same_g) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 2000; ++i) {
        const g_chain chain = take_free(1 + static_cast<std::uint32_t>(i % 5));
        for (G* gp : members(chain))
          gp->made_by = 1;  // ours: ThreadSanitizer would see another owner
        put_free(chain);
      }
    });
  }
  for (auto& t : threads) t.join();
}

}  // namespace
}  // namespace weft::rt
