// event_core_test.cpp: the event's protocol, without parking. (Its interleavings are tests/model's.)
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/atomics.hpp"
#include "sync/event_core.hpp"

namespace weft::sync {
namespace {

using core = event_core<base::std_atomics, int>;

TEST(event_core, push_on_a_set_event_is_refused) {
  core::word state{core::kUnset};
  int who = 1;
  core::record r{&who, nullptr};
  core::set(state, [](int*) { FAIL() << "nobody waits"; });
  EXPECT_FALSE(core::push(state, &r));
}

TEST(event_core, set_wakes_all_who_wait_first_come_first) {
  core::word state{core::kUnset};
  int who[3] = {0, 1, 2};
  core::record r[3] = {{&who[0], nullptr}, {&who[1], nullptr}, {&who[2], nullptr}};
  for (auto& each : r) ASSERT_TRUE(core::push(state, &each));
  std::vector<int> woken;
  core::set(state, [&](int* w) { woken.push_back(*w); });
  EXPECT_EQ(woken, (std::vector<int>{0, 1, 2}));
  core::set(state, [](int*) { FAIL() << "woken twice"; });
}

TEST(event_core, a_record_is_not_read_after_its_owner_was_woken) {
  core::word state{core::kUnset};
  int who[3] = {0, 1, 2};
  core::record r[3] = {{&who[0], nullptr}, {&who[1], nullptr}, {&who[2], nullptr}};
  for (auto& each : r) core::push(state, &each);
  int n = 0;
  core::set(state, [&](int* w) {
    r[*w] = {nullptr,
             reinterpret_cast<core::record*>(0x10)};  // its owner has gone on and uses the memory
    ++n;
  });
  EXPECT_EQ(n, 3);
}

TEST(event_core, reset_unsets_and_leaves_those_who_wait) {
  core::word state{core::kUnset};
  core::reset(state);
  EXPECT_EQ(state.load(), core::kUnset);
  core::set(state, [](int*) {});
  core::reset(state);
  EXPECT_EQ(state.load(), core::kUnset);
  int who = 1;
  core::record r{&who, nullptr};
  ASSERT_TRUE(core::push(state, &r));
  core::reset(state);
  int woken = 0;
  core::set(state, [&](int*) { ++woken; });
  EXPECT_EQ(woken, 1);
}

TEST(event_core, whoever_of_detach_and_set_comes_second_is_told) {
  core::word state{core::kUnset};
  EXPECT_FALSE(core::detach(state));
  EXPECT_FALSE(core::set(state, [](int*) { FAIL() << "nobody waits"; })) << "the setter frees";
  core::word other{core::kUnset};
  EXPECT_TRUE(core::set(other, [](int*) {}));
  EXPECT_TRUE(core::detach(other)) << "the detacher frees";
}

TEST(event_core, whoever_waits_alone_can_withdraw_until_the_setter_has_it_in_hand) {
  core::word state{core::kUnset};
  int who = 1;
  core::record r{&who, nullptr};
  ASSERT_TRUE(core::push(state, &r));
  EXPECT_TRUE(core::withdraw_only(state, &r));
  EXPECT_EQ(state.load(), core::kUnset);
  ASSERT_TRUE(core::push(state, &r));
  int woken = 0;
  core::set(state, [&](int*) { ++woken; });
  EXPECT_FALSE(core::withdraw_only(state, &r));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(state.load(), core::kSet);
}

TEST(event_core, detach_leaves_those_who_wait) {
  core::word state{core::kUnset};
  int who = 1;
  core::record r{&who, nullptr};
  ASSERT_TRUE(core::push(state, &r));
  EXPECT_FALSE(core::detach(state));
  int woken = 0;
  EXPECT_TRUE(core::set(state, [&](int*) { ++woken; }));
  EXPECT_EQ(woken, 1);
}

TEST(event_core_race, each_waiter_is_refused_or_woken_exactly_once) {
  for (int round = 0; round < 300; ++round) {
    core::word state{core::kUnset};
    std::atomic<int> woken[2] = {0, 0};
    int who[2] = {0, 1};
    core::record r[2] = {{&who[0], nullptr}, {&who[1], nullptr}};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&, i] {
        if (!core::push(state, &r[i])) ++woken[i];
      });
    }
    core::set(state, [&](int* w) { ++woken[*w]; });
    for (auto& t : threads) t.join();
    ASSERT_EQ(woken[0], 1);
    ASSERT_EQ(woken[1], 1);
  }
}

}  // namespace
}  // namespace weft::sync
