// once_core_test.cpp: once's protocol, without parking (B295, B296).
#include "sync/once_core.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "sync/core_test.hpp"

namespace weft::sync {
namespace {

using test::party;
using core = once_core<os::futex_atomics, party>;
using step = core::step;

TEST(once_core, the_first_runs_others_wait_and_later_ones_pass) {
  core::word state{0};
  party who[2];
  core::record r[2] = {{&who[0], nullptr}, {&who[1], nullptr}};
  EXPECT_EQ(core::begin(state), step::run);
  EXPECT_EQ(core::begin(state), step::must_wait);
  ASSERT_TRUE(core::push(state, &r[0]));
  ASSERT_TRUE(core::push(state, &r[1]));
  std::vector<party*> order;
  core::finish(state, true, [&](party* p) { order.push_back(p); });
  EXPECT_EQ(order, (std::vector<party*>{&who[0], &who[1]})) << "first come first";
  EXPECT_EQ(core::begin(state), step::done);
  EXPECT_FALSE(core::push(state, &r[0])) << "nobody waits for what is done";
}

TEST(once_core, after_one_that_failed_the_next_runs) {
  core::word state{0};
  party who;
  core::record r{&who, nullptr};
  ASSERT_EQ(core::begin(state), step::run);
  ASSERT_TRUE(core::push(state, &r));
  core::finish(state, false, test::wake);
  EXPECT_EQ(who.nwoken, 1);
  EXPECT_FALSE(core::push(state, &r));
  EXPECT_EQ(core::begin(state), step::run);
  EXPECT_EQ(core::begin(state), step::must_wait);
}

TEST(once_core, neither_it_nor_a_record_is_touched_once_its_owner_is_woken) {
  core::word state{0};
  party who[2];
  core::record r[2] = {{&who[0], nullptr}, {&who[1], nullptr}};
  ASSERT_EQ(core::begin(state), step::run);
  ASSERT_TRUE(core::push(state, &r[0]));
  ASSERT_TRUE(core::push(state, &r[1]));
  int n = 0;
  core::finish(state, true, [&](party* p) {
    EXPECT_EQ(p, &who[n]);
    r[n++] = {nullptr, nullptr};
    state = 0xA5A5;
  });
  EXPECT_EQ(n, 2);
  EXPECT_EQ(state.load(), 0xA5A5u);
}

TEST(once_core_race, one_runs_and_everyone_sees_what_it_did) {
  for (int round = 0; round < 300; ++round) {
    core::word state{0};
    int made = 0;
    std::atomic<int> nfailed{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        party who;
        core::record r{&who, nullptr};
        for (step s; (s = core::begin(state)) != step::done;) {
          if (s == step::run) {
            const bool succeeds = nfailed++ != 0;  // the first one throws
            if (succeeds) ++made;
            core::finish(state, succeeds, test::wake);
          } else if (core::push(state, &r)) {
            who.await(1);
            who.nwoken = 0;
          }
        }
        EXPECT_EQ(made, 1);
      });
    }
    for (auto& t : threads) t.join();
  }
}

}  // namespace
}  // namespace weft::sync
