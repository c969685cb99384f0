// wait_group_core_test.cpp: the wait group's protocol, without parking (B290, B291).
#include "sync/wait_group_core.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace weft::sync {
namespace {

using core = wait_group_core<os::futex_atomics, int>;

struct group {
  core::word state{0};
  core::lock guard;
  void* waiters = nullptr;
  std::vector<int> woken;

  bool add(std::int32_t n) {
    return core::add(state, guard, waiters, n, [this](int* w) { woken.push_back(*w); });
  }
  bool push(core::record* r) { return core::push(state, guard, waiters, r); }
};

TEST(wait_group_core, zero_lets_everyone_pass) {
  group g;
  int who = 0;
  core::record r{&who, nullptr};
  EXPECT_FALSE(g.push(&r));
  EXPECT_TRUE(g.add(2));
  EXPECT_TRUE(g.add(-2));
  EXPECT_FALSE(g.push(&r));
  EXPECT_EQ(g.state.load(), 0u);
}

TEST(wait_group_core, the_last_done_wakes_all_first_come_first) {
  group g;
  int who[3] = {0, 1, 2};
  core::record r[3] = {{&who[0], nullptr}, {&who[1], nullptr}, {&who[2], nullptr}};
  ASSERT_TRUE(g.add(2));
  for (auto& each : r) ASSERT_TRUE(g.push(&each));
  ASSERT_TRUE(g.add(-1));
  EXPECT_TRUE(g.woken.empty());
  ASSERT_TRUE(g.add(-1));
  EXPECT_EQ(g.woken, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(g.state.load(), 0u) << "as good as new";
  EXPECT_EQ(g.waiters, nullptr);
}

// Whoever was in the list and is woken first may destroy the group, though the others have not come back yet.
TEST(wait_group_core, nothing_of_the_group_is_touched_once_the_first_waiter_was_woken) {
  struct {
    core::word state{0};
    core::lock guard;
    void* waiters = nullptr;
  } g;
  int who[3] = {0, 1, 2};
  core::record r[3] = {{&who[0], nullptr}, {&who[1], nullptr}, {&who[2], nullptr}};
  int nwoken = 0;
  std::vector<unsigned char> rubbish(sizeof g, 0xA5);
  const auto wake = [&](int* w) {
    EXPECT_EQ(*w, nwoken);
    if (nwoken++ == 0) std::memcpy(static_cast<void*>(&g), rubbish.data(), sizeof g);
    r[*w] = {nullptr, nullptr};  // its owner has left the function that held it
  };
  ASSERT_TRUE(core::add(g.state, g.guard, g.waiters, 1, wake));
  for (auto& each : r) ASSERT_TRUE(core::push(g.state, g.guard, g.waiters, &each));
  ASSERT_TRUE(core::add(g.state, g.guard, g.waiters, -1, wake));
  EXPECT_EQ(nwoken, 3);
  EXPECT_EQ(std::memcmp(&g, rubbish.data(), sizeof g), 0);
}

// B291: what the caller makes fatal.
TEST(wait_group_core, below_zero_and_overflow_are_refused_and_change_nothing) {
  group g;
  EXPECT_FALSE(g.add(-1));
  EXPECT_EQ(g.state.load(), 0u);
  EXPECT_TRUE(g.add(INT32_MAX));
  EXPECT_FALSE(g.add(1));
  EXPECT_EQ(core::count_of(g.state.load()), INT32_MAX);
  EXPECT_TRUE(g.add(-INT32_MAX));
  EXPECT_FALSE(g.add(INT32_MIN));
  EXPECT_EQ(g.state.load(), 0u);
}

TEST(wait_group_core_race, each_waiter_is_refused_or_woken_exactly_once) {
  for (int round = 0; round < 300; ++round) {
    core::word state{0};
    core::lock guard;
    void* waiters = nullptr;
    std::atomic<int> woken[2] = {0, 0};
    int who[2] = {0, 1};
    core::record r[2] = {{&who[0], nullptr}, {&who[1], nullptr}};
    const auto wake = [&](int* w) { ++woken[*w]; };
    ASSERT_TRUE(core::add(state, guard, waiters, 2, wake));
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        if (!core::push(state, guard, waiters, &r[i])) ++woken[i];
        core::add(state, guard, waiters, -1, wake);
      });
    }
    for (auto& t : threads) t.join();
    ASSERT_EQ(woken[0], 1);
    ASSERT_EQ(woken[1], 1);
    ASSERT_EQ(state.load(), 0u);
  }
}

}  // namespace
}  // namespace weft::sync
