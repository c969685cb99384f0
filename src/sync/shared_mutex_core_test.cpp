// shared_mutex_core_test.cpp: the shared mutex's protocol, without parking (B280, B281).
#include "sync/shared_mutex_core.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "sync/core_test.hpp"

namespace weft::sync {
namespace {

using test::party;
using core = shared_mutex_core<os::futex_atomics, party, test::parties>;

struct ends {
  void* first = nullptr;
  void* last = nullptr;
};

struct lockable {
  core::word state{0};
  test::room room;
  ends readers;
  core c{state, room.guard, {room.first, room.last}, {readers.first, readers.last}};
};

struct locker {
  party who;
  core::record r;
  locker() { r.who = &who; }
};

TEST(shared_mutex_core, readers_get_in_together_and_a_writer_alone) {
  lockable m;
  locker a;
  EXPECT_FALSE(m.c.enter_reader(&a.r));
  EXPECT_FALSE(m.c.enter_reader(&a.r));
  EXPECT_EQ(m.state.load(), 2 * core::kReader);
  EXPECT_TRUE(m.c.release_reader(test::wake));
  EXPECT_TRUE(m.c.release_reader(test::wake));
  EXPECT_EQ(m.state.load(), 0u);
  EXPECT_FALSE(m.c.enter_writer(&a.r));
  EXPECT_EQ(m.state.load(), core::kWriter);
  EXPECT_TRUE(m.c.release_writer(test::wake));
  EXPECT_EQ(m.state.load(), 0u);
}

TEST(shared_mutex_core, what_is_not_locked_that_way_is_not_unlocked) {
  lockable m;
  locker a;
  EXPECT_FALSE(m.c.release_writer(test::wake));
  EXPECT_FALSE(m.c.release_reader(test::wake));
  ASSERT_FALSE(m.c.enter_reader(&a.r));
  EXPECT_FALSE(m.c.release_writer(test::wake));
  ASSERT_TRUE(m.c.release_reader(test::wake));
  ASSERT_FALSE(m.c.enter_writer(&a.r));
  EXPECT_FALSE(m.c.release_reader(test::wake));
}

TEST(shared_mutex_core,
     a_writer_that_waits_keeps_new_readers_out_and_gets_it_from_the_last_reader) {
  lockable m;
  locker r1;
  locker r2;
  locker w;
  locker late;
  ASSERT_FALSE(m.c.enter_reader(&r1.r));
  ASSERT_FALSE(m.c.enter_reader(&r2.r));
  ASSERT_TRUE(m.c.enter_writer(&w.r));
  EXPECT_TRUE(m.c.enter_reader(&late.r)) << "it waits behind the writer";
  ASSERT_TRUE(m.c.release_reader(test::wake));
  EXPECT_EQ(w.who.nwoken, 0);
  ASSERT_TRUE(m.c.release_reader(test::wake));
  EXPECT_EQ(w.who.nwoken, 1);
  EXPECT_EQ(late.who.nwoken, 0);
  EXPECT_EQ(m.state.load(), core::kWriter | core::kWaiting);
  ASSERT_TRUE(m.c.release_writer(test::wake));
  EXPECT_EQ(late.who.nwoken, 1);
  ASSERT_TRUE(m.c.release_reader(test::wake));
  EXPECT_EQ(m.state.load(), 0u);
}

TEST(shared_mutex_core, a_writer_lets_all_readers_in_that_came_meanwhile_before_the_next_writer) {
  lockable m;
  locker w1;
  locker w2;
  locker r1;
  locker r2;
  ASSERT_FALSE(m.c.enter_writer(&w1.r));
  ASSERT_TRUE(m.c.enter_writer(&w2.r));
  ASSERT_TRUE(m.c.enter_reader(&r1.r));
  ASSERT_TRUE(m.c.enter_reader(&r2.r));
  ASSERT_TRUE(m.c.release_writer(test::wake));
  EXPECT_EQ(r1.who.nwoken + r2.who.nwoken, 2);
  EXPECT_EQ(w2.who.nwoken, 0);
  EXPECT_EQ(m.state.load(), 2 * core::kReader | core::kWaiting);
  ASSERT_TRUE(m.c.release_reader(test::wake));
  ASSERT_TRUE(m.c.release_reader(test::wake));
  EXPECT_EQ(w2.who.nwoken, 1);
  ASSERT_TRUE(m.c.release_writer(test::wake));
  EXPECT_EQ(m.state.load(), 0u);
}

TEST(shared_mutex_core, those_of_a_runtime_that_has_ended_are_passed_over) {
  lockable m;
  locker r;
  locker left;
  locker behind;
  ASSERT_FALSE(m.c.enter_reader(&r.r));
  ASSERT_TRUE(m.c.enter_writer(&left.r));
  ASSERT_TRUE(m.c.enter_reader(&behind.r));
  left.who.is_left_behind = true;
  ASSERT_TRUE(m.c.release_reader(test::wake));
  EXPECT_EQ(left.who.nwoken, 0);
  EXPECT_EQ(behind.who.nwoken, 1) << "nobody waits to write any more";
  ASSERT_TRUE(m.c.release_reader(test::wake));
  EXPECT_EQ(m.state.load(), 0u);
  ASSERT_FALSE(m.c.enter_writer(&r.r));
  ASSERT_TRUE(m.c.enter_writer(&left.r));
  ASSERT_TRUE(m.c.release_writer(test::wake));
  EXPECT_EQ(m.state.load(), 0u);
}

// [shared_mutex.no_touch_after_unlock]
TEST(shared_mutex_core, nothing_of_it_is_touched_once_somebody_is_woken) {
  struct {
    core::word state{0};
    test::room room;
    ends readers;
  } m;
  core c(m.state, m.room.guard, {m.room.first, m.room.last}, {m.readers.first, m.readers.last});
  locker w;
  locker r[2];
  ASSERT_FALSE(c.enter_writer(&w.r));
  for (auto& each : r) ASSERT_TRUE(c.enter_reader(&each.r));
  std::vector<unsigned char> rubbish(sizeof m, 0xA5);
  int n = 0;
  ASSERT_TRUE(c.release_writer([&](party* p) {
    EXPECT_EQ(p, &r[n].who);
    if (n == 0) std::memcpy(static_cast<void*>(&m), rubbish.data(), sizeof m);
    r[n++].r = {};
  }));
  EXPECT_EQ(n, 2);
  EXPECT_EQ(std::memcmp(&m, rubbish.data(), sizeof m), 0);
}

TEST(shared_mutex_core_race, writers_are_alone_and_nobody_is_forgotten) {
  lockable m;
  constexpr int kRounds = 3000;
  int shared[2] = {0, 0};
  std::atomic<int> torn{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        locker me;
        if (t < 2) {
          if (m.c.enter_writer(&me.r)) me.who.await(1);
          ++shared[0];
          ++shared[1];
          EXPECT_TRUE(m.c.release_writer(test::wake));
        } else {
          if (m.c.enter_reader(&me.r)) me.who.await(1);
          if (shared[0] != shared[1]) ++torn;
          EXPECT_TRUE(m.c.release_reader(test::wake));
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(shared[0], 2 * kRounds);
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(m.state.load(), 0u);
}

}  // namespace
}  // namespace weft::sync
