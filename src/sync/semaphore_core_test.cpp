// semaphore_core_test.cpp: the semaphore's protocol, without parking (B274).
#include "sync/semaphore_core.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "sync/core_test.hpp"

namespace weft::sync {
namespace {

using test::party;
using core = semaphore_core<os::futex_atomics, party, test::parties>;

constexpr std::int64_t kCapacity = 10;

struct semaphore {
  core::word state;
  test::room room;
  core c{state, room.guard, room.first, room.last};
  explicit semaphore(std::int64_t n) : state(n * core::kOne) {}
  std::int64_t available() const { return state.load() / core::kOne; }
  bool has_waiters() const { return (state.load() & core::kWaiting) != 0; }
};

struct taker {
  party who;
  core::record r;
  explicit taker(std::int64_t n) {
    r.who = &who;
    r.wants = n;
  }
};

TEST(semaphore_core, what_is_there_is_taken_at_once) {
  semaphore s(kCapacity);
  taker a(7);
  taker b(3);
  EXPECT_FALSE(s.c.enter(&a.r));
  EXPECT_FALSE(s.c.enter(&b.r));
  EXPECT_EQ(s.available(), 0);
  EXPECT_TRUE(s.c.release(10, kCapacity, test::wake));
  EXPECT_EQ(s.available(), 10);
}

TEST(semaphore_core, more_than_the_capacity_is_refused) {
  semaphore s(kCapacity);
  EXPECT_FALSE(s.c.release(1, kCapacity, test::wake));
  EXPECT_EQ(s.available(), 10);
  taker big(9);
  taker waits(5);
  ASSERT_FALSE(s.c.enter(&big.r));
  ASSERT_TRUE(s.c.enter(&waits.r));
  EXPECT_FALSE(s.c.release(10, kCapacity, test::wake)) << "also while somebody waits";
  EXPECT_EQ(waits.who.nwoken, 0);
  EXPECT_EQ(s.available(), 1);
}

TEST(semaphore_core, small_ones_do_not_pass_a_large_one) {
  semaphore s(kCapacity);
  taker most(8);
  taker large(5);
  taker small(1);
  ASSERT_FALSE(s.c.enter(&most.r));
  ASSERT_TRUE(s.c.enter(&large.r));
  EXPECT_TRUE(s.c.enter(&small.r)) << "though there are two left";
  EXPECT_TRUE(s.c.release(2, kCapacity, test::wake));
  EXPECT_EQ(large.who.nwoken + small.who.nwoken, 0);
  EXPECT_EQ(s.available(), 4);
  EXPECT_TRUE(s.c.release(1, kCapacity, test::wake));
  EXPECT_EQ(large.who.nwoken, 1);
  EXPECT_EQ(small.who.nwoken, 0);
  EXPECT_TRUE(s.c.release(5, kCapacity, test::wake));
  EXPECT_EQ(small.who.nwoken, 1);
  EXPECT_EQ(s.available(), 4);
  EXPECT_FALSE(s.has_waiters());
}

TEST(semaphore_core, one_release_serves_all_it_suffices_for) {
  semaphore s(kCapacity);
  taker all(10);
  taker a(2);
  taker b(3);
  taker c(4);
  ASSERT_FALSE(s.c.enter(&all.r));
  for (taker* t : {&a, &b, &c}) ASSERT_TRUE(s.c.enter(&t->r));
  EXPECT_TRUE(s.c.release(6, kCapacity, test::wake));
  EXPECT_EQ(a.who.nwoken, 1);
  EXPECT_EQ(b.who.nwoken, 1);
  EXPECT_EQ(c.who.nwoken, 0);
  EXPECT_EQ(s.available(), 1);
  EXPECT_TRUE(s.has_waiters());
}

TEST(semaphore_core, when_a_large_one_gives_up_those_behind_it_are_served) {
  semaphore s(kCapacity);
  taker most(8);
  taker large(5);
  taker small(1);
  taker other(1);
  ASSERT_FALSE(s.c.enter(&most.r));
  for (taker* t : {&large, &small, &other}) ASSERT_TRUE(s.c.enter(&t->r));
  EXPECT_TRUE(s.c.withdraw(&large.r, test::wake));
  EXPECT_EQ(large.who.nwoken, 0);
  EXPECT_EQ(small.who.nwoken, 1);
  EXPECT_EQ(other.who.nwoken, 1);
  EXPECT_FALSE(s.c.withdraw(&small.r, test::wake)) << "it has what it wants";
  EXPECT_EQ(s.available(), 0);
  EXPECT_FALSE(s.has_waiters());
}

TEST(semaphore_core, those_of_a_runtime_that_has_ended_are_passed_over) {
  semaphore s(kCapacity);
  taker all(10);
  taker left(10);
  taker b(1);
  ASSERT_FALSE(s.c.enter(&all.r));
  ASSERT_TRUE(s.c.enter(&left.r));
  ASSERT_TRUE(s.c.enter(&b.r));
  left.who.is_left_behind = true;
  EXPECT_TRUE(s.c.release(3, kCapacity, test::wake));
  EXPECT_EQ(b.who.nwoken, 1);
  EXPECT_EQ(s.available(), 2);
}

// [semaphore.no_touch_after_release]
TEST(semaphore_core, nothing_of_it_is_touched_once_somebody_is_woken) {
  struct {
    core::word state{0};
    test::room room;
  } s;
  core c(s.state, s.room.guard, s.room.first, s.room.last);
  taker a(1);
  taker b(1);
  ASSERT_TRUE(c.enter(&a.r));
  ASSERT_TRUE(c.enter(&b.r));
  std::vector<unsigned char> rubbish(sizeof s, 0xA5);
  int n = 0;
  ASSERT_TRUE(c.release(5, kCapacity, [&](party* p) {
    EXPECT_EQ(p, n == 0 ? &a.who : &b.who);
    if (n == 0) {
      EXPECT_EQ(s.state.load(), 3 * core::kOne) << "what is left was put back before";
      std::memcpy(static_cast<void*>(&s), rubbish.data(), sizeof s);
    }
    (n++ == 0 ? a : b).r = {};
  }));
  EXPECT_EQ(n, 2);
  EXPECT_EQ(std::memcmp(&s, rubbish.data(), sizeof s), 0);
}

TEST(semaphore_core, what_is_left_cannot_be_taken_before_the_queues_lock_is_free) {
  using watched = semaphore_core<test::watched_unlock, party, test::parties>;
  watched::word state{0};
  watched::lock guard;
  void* first = nullptr;
  void* last = nullptr;
  watched c(state, guard, first, last);
  party who;
  watched::record r;
  r.who = &who;
  r.wants = 1;
  ASSERT_TRUE(c.enter(&r));
  int nlooked = 0;
  auto look = [&] {
    ++nlooked;
    EXPECT_TRUE(state.load() / watched::kOne == 0 || (state.load() & watched::kWaiting) != 0);
  };
  test::watched_unlock::watch(look);
  ASSERT_TRUE(c.release(5, kCapacity, test::wake));
  test::watched_unlock::stop();
  EXPECT_EQ(nlooked, 1);
  EXPECT_EQ(state.load(), 4 * watched::kOne);
}

TEST(semaphore_core_race, never_more_than_there_is_and_nobody_is_forgotten) {
  semaphore s(kCapacity);
  std::atomic<std::int64_t> taken{0};
  std::atomic<int> too_much{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        taker me(1 + (t * 3 + i) % kCapacity);
        if (s.c.enter(&me.r)) {
          if (t == 0 && i % 2 == 0 && s.c.withdraw(&me.r, test::wake)) continue;
          me.who.await(1);
        }
        if ((taken += me.r.wants) > kCapacity) ++too_much;
        taken -= me.r.wants;
        EXPECT_TRUE(s.c.release(me.r.wants, kCapacity, test::wake));
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(too_much, 0);
  EXPECT_EQ(s.state.load(), kCapacity * core::kOne);
}

}  // namespace
}  // namespace weft::sync
