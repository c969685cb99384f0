// barrier_core_test.cpp: the barrier's protocol, without parking.
#include "sync/barrier_core.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "sync/core_test.hpp"

namespace weft::sync {
namespace {

using test::party;
using core = barrier_core<os::futex_atomics, party, test::parties>;

struct barrier {
  core::word state;
  test::room room;
  core c{state, room.guard, room.first, room.last};
  explicit barrier(std::uint64_t n) : state(n) {}
};

struct waiting {
  party who;
  core::record r;
  waiting() { r.who = &who; }
};

TEST(barrier_core, the_last_of_a_phase_lets_all_through_and_the_next_begins) {
  barrier b(3);
  waiting w[2];
  for (std::uint32_t phase = 0; phase < 3; ++phase) {
    EXPECT_EQ(b.c.arrive(1).left, 2);
    EXPECT_EQ(b.c.arrive(1).phase, phase);
    for (auto& each : w) ASSERT_TRUE(b.c.enter(&each.r, phase));
    EXPECT_EQ(b.c.arrive(1).left, 0);
    EXPECT_EQ(w[0].who.nwoken, static_cast<int>(phase)) << "not before the completion has run";
    b.c.next_phase(3, test::wake);
    for (auto& each : w) EXPECT_EQ(each.who.nwoken, static_cast<int>(phase) + 1);
    EXPECT_FALSE(b.c.enter(&w[0].r, phase)) << "that phase is over";
  }
}

TEST(barrier_core, one_too_many_is_refused_and_changes_nothing) {
  barrier b(2);
  EXPECT_LT(b.c.arrive(3).left, 0);
  EXPECT_EQ(b.c.arrive(2).left, 0);
  EXPECT_LT(b.c.arrive(1).left, 0) << "nobody is expected while the phase is completed";
  b.c.next_phase(1, test::wake);
  EXPECT_EQ(b.c.arrive(1).left, 0) << "as many as the next phase expects";
}

TEST(barrier_core, the_number_of_the_phase_comes_round) {
  barrier b(std::uint64_t{0xFFFF'FFFF} << core::kPhaseShift | 1);
  const auto a = b.c.arrive(1);
  EXPECT_EQ(a.phase, 0xFFFF'FFFFu);
  b.c.next_phase(1, test::wake);
  waiting w;
  EXPECT_FALSE(b.c.enter(&w.r, a.phase));
  EXPECT_EQ(b.c.arrive(1).phase, 0u);
}

// [barrier.no_touch_after_phase]
TEST(barrier_core, nothing_of_it_is_touched_once_somebody_is_woken) {
  struct {
    core::word state{1};
    test::room room;
  } b;
  core c(b.state, b.room.guard, b.room.first, b.room.last);
  waiting w[2];
  for (auto& each : w) ASSERT_TRUE(c.enter(&each.r, 0));
  ASSERT_EQ(c.arrive(1).left, 0);
  std::vector<unsigned char> rubbish(sizeof b, 0xA5);
  int n = 0;
  c.next_phase(1, [&](party* p) {
    EXPECT_EQ(p, &w[n].who);
    if (n == 0) std::memcpy(static_cast<void*>(&b), rubbish.data(), sizeof b);
    w[n++].r = {};
  });
  EXPECT_EQ(n, 2);
  EXPECT_EQ(std::memcmp(&b, rubbish.data(), sizeof b), 0);
}

TEST(barrier_core, the_phase_has_not_ended_when_the_queues_lock_is_freed) {
  using watched = barrier_core<test::watched_unlock, party, test::parties>;
  watched::word state{1};
  watched::lock guard;
  void* first = nullptr;
  void* last = nullptr;
  watched c(state, guard, first, last);
  party who;
  watched::record r;
  r.who = &who;
  ASSERT_TRUE(c.enter(&r, 0));
  ASSERT_EQ(c.arrive(1).left, 0);
  int nlooked = 0;
  auto look = [&] {
    ++nlooked;
    EXPECT_EQ(watched::phase_of(state.load()), 0u);
  };
  test::watched_unlock::watch(look);
  c.next_phase(1, test::wake);
  test::watched_unlock::stop();
  EXPECT_EQ(nlooked, 1);
  EXPECT_EQ(who.nwoken, 1);
}

TEST(barrier_core_race, nobody_goes_on_before_all_have_come) {
  constexpr int kThreads = 3;
  constexpr int kPhases = 400;
  barrier b(kThreads);
  std::atomic<int> narrived{0};
  std::atomic<int> nearly{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kPhases; ++i) {
        ++narrived;
        const auto a = b.c.arrive(1);
        waiting me;
        if (a.left == 0) {
          b.c.next_phase(kThreads, test::wake);
        } else if (b.c.enter(&me.r, a.phase)) {
          me.who.await(1);
        }
        if (narrived < (i + 1) * kThreads) ++nearly;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(nearly, 0);
}

}  // namespace
}  // namespace weft::sync
