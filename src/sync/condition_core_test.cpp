// condition_core_test.cpp: the condition variable's protocol, without parking (B284 to B287).
#include "sync/condition_core.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "sync/core_test.hpp"

namespace weft::sync {
namespace {

using test::party;
using core = condition_core<os::futex_atomics, party, test::parties>;

struct condition {
  core::word nwaiting{0};
  test::room room;
  core c{nwaiting, room.guard, room.first, room.last};
};

struct nothing {};

struct waiting {
  party who;
  core::record r;
  waiting() { r.who = &who; }
};

TEST(condition_core, one_notify_wakes_the_one_that_waited_longest) {
  condition c;
  waiting w[3];
  c.c.notify(false, test::wake);
  for (auto& each : w) c.c.enter<nothing>(&each.r, [] {});
  EXPECT_EQ(c.nwaiting, 3u);
  for (int i = 0; i < 3; ++i) {
    c.c.notify(false, test::wake);
    for (int k = 0; k < 3; ++k) EXPECT_EQ(w[k].who.nwoken, k <= i ? 1 : 0);
    EXPECT_EQ(c.nwaiting, static_cast<unsigned>(2 - i));
  }
}

// Whoever gets the mutex then may notify at once.
TEST(condition_core, a_notify_that_comes_as_the_mutex_is_freed_is_not_lost) {
  condition c;
  waiting w;
  c.c.enter<nothing>(&w.r, [&] {
    EXPECT_EQ(c.nwaiting, 1u);
    c.c.notify(false, test::wake);
  });
  EXPECT_EQ(w.who.nwoken, 1);
  EXPECT_EQ(c.nwaiting, 0u);
}

TEST(condition_core, notify_all_wakes_everyone_in_order_and_touches_nothing_afterwards) {
  condition c;
  waiting w[3];
  for (auto& each : w) c.c.enter<nothing>(&each.r, [] {});
  int n = 0;
  c.c.notify(true, [&](party* p) {
    EXPECT_EQ(p, &w[n].who);
    w[n++].r = {};
    c.room.first = &c;  // whoever was woken may have destroyed it
    c.nwaiting = 77;
  });
  EXPECT_EQ(n, 3);
  EXPECT_EQ(c.room.first, &c);
  EXPECT_EQ(c.nwaiting, 77u);
}

TEST(condition_core, who_withdraws_takes_no_notify_with_it) {
  condition c;
  waiting w[3];
  for (auto& each : w) c.c.enter<nothing>(&each.r, [] {});
  EXPECT_TRUE(c.c.withdraw(&w[0].r));
  EXPECT_EQ(c.nwaiting, 2u);
  c.c.notify(false, test::wake);
  EXPECT_EQ(w[0].who.nwoken, 0);
  EXPECT_EQ(w[1].who.nwoken, 1);
  EXPECT_FALSE(c.c.withdraw(&w[1].r)) << "it was notified";
}

TEST(condition_core, those_of_a_runtime_that_has_ended_get_no_notify) {
  condition c;
  waiting w[3];
  for (auto& each : w) c.c.enter<nothing>(&each.r, [] {});
  w[0].who.is_left_behind = w[2].who.is_left_behind = true;
  c.c.notify(false, test::wake);
  EXPECT_EQ(w[1].who.nwoken, 1);
  c.c.notify(false, test::wake);
  EXPECT_EQ(w[2].who.nwoken, 0);
  EXPECT_EQ(c.nwaiting, 0u);
}

TEST(condition_core_race, every_notify_reaches_exactly_one_that_waits) {
  condition c;
  constexpr int kThreads = 3;
  constexpr int kRounds = 400;
  std::atomic<int> nnotified{0};
  std::atomic<int> ngone{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        waiting me;
        c.c.enter<nothing>(&me.r, [] {});
        if (t == 0 && i % 2 == 0 && c.c.withdraw(&me.r)) continue;
        me.who.await(1);
        ++nnotified;
        EXPECT_EQ(me.who.nwoken, 1);
      }
      ++ngone;
    });
  }
  int nwoken = 0;
  while (ngone < kThreads) {
    c.c.notify(false, [&](party* p) {
      ++nwoken;
      ++p->nwoken;
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(nwoken, nnotified);
  EXPECT_EQ(c.nwaiting, 0u);
}

}  // namespace
}  // namespace weft::sync
