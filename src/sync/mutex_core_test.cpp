// mutex_core_test.cpp: the mutex's protocol, without parking (B277, B278).
#include "sync/mutex_core.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "os/restartable.hpp"
#include "sync/core_test.hpp"

namespace weft::sync {
namespace {

using test::party;
using core = mutex_core<os::futex_atomics, party, test::parties>;
using step = core::step;

struct lockable {
  core::word state{0};
  test::room room;
  core c{state, room.guard, room.first, room.last};

  // Whether it is taken, waited for, or about to be: all but how calm its holder is.
  std::uint32_t who_matters() const { return state.load() & ~core::kTurns; }
};

struct locker {
  party who;
  core::record r;
  locker() { r.who = &who; }
};

TEST(mutex_core, a_free_one_is_taken_and_freed) {
  lockable m;
  locker a;
  EXPECT_TRUE(m.c.take(&a.r));
  EXPECT_FALSE(m.c.take(&a.r));
  EXPECT_EQ(m.c.release_quietly(), step::done);
  EXPECT_EQ(m.who_matters(), 0u);
}

TEST(mutex_core, freeing_a_free_one_is_refused_also_while_somebody_is_on_its_way) {
  lockable m;
  locker a;
  locker b;
  EXPECT_EQ(m.c.release_quietly(), step::not_locked);
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  ASSERT_EQ(m.c.release_quietly(), step::must_wake);
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_EQ(m.c.release_quietly(), step::not_locked);
}

TEST(mutex_core, nobody_enters_the_queue_of_a_free_one) {
  lockable m;
  locker a;
  EXPECT_FALSE(m.c.enter(&a.r));
  EXPECT_EQ(m.room.first, nullptr);
  EXPECT_EQ(m.who_matters(), 0u);
}

TEST(mutex_core, while_one_is_on_its_way_nobody_else_is_woken) {
  lockable m;
  locker a;
  locker b;
  locker c;
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  ASSERT_TRUE(m.c.enter(&c.r));
  ASSERT_EQ(m.c.release_quietly(), step::must_wake);
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_EQ(b.who.nwoken, 1) << "first come first";
  ASSERT_TRUE(m.c.take(&a.r)) << "whoever runs may pass those who wait";
  EXPECT_EQ(m.c.release_quietly(), step::done);
  EXPECT_EQ(c.who.nwoken, 0);
  ASSERT_TRUE(m.c.take(&b.r)) << "it has arrived";
  EXPECT_EQ(m.c.release_quietly(), step::must_wake) << "so the next one is to be woken";
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_EQ(c.who.nwoken, 1);
  ASSERT_TRUE(m.c.take(&c.r));
  EXPECT_EQ(m.c.release_quietly(), step::done);
  EXPECT_EQ(m.who_matters(), 0u) << "as good as new";
}

TEST(mutex_core, who_was_woken_in_vain_waits_at_the_front) {
  lockable m;
  locker a;
  locker b;
  locker c;
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  ASSERT_TRUE(m.c.enter(&c.r));
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  ASSERT_TRUE(m.c.take(&a.r));
  EXPECT_FALSE(m.c.take(&b.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  ASSERT_EQ(m.c.release_quietly(), step::must_wake) << "nobody is on its way any more";
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_EQ(b.who.nwoken, 2);
  EXPECT_EQ(c.who.nwoken, 0);
}

TEST(mutex_core, it_is_handed_to_one_that_starves_and_never_free_in_between) {
  lockable m;
  locker a;
  locker b;
  ASSERT_TRUE(m.c.take(&a.r));
  b.r.is_starving = true;
  ASSERT_TRUE(m.c.enter(&b.r));
  bool was_locked = false;
  ASSERT_EQ(m.c.release_quietly(), step::must_wake);
  ASSERT_TRUE(
      m.c.release_to_next([&](party*) { was_locked = m.c.is_locked() && !m.c.take(&a.r); }));
  EXPECT_TRUE(was_locked);
  EXPECT_TRUE(b.r.has_lock);
  EXPECT_EQ(m.c.release_quietly(), step::done);
  EXPECT_EQ(m.who_matters(), 0u);
}

TEST(mutex_core, who_withdraws_is_gone_and_the_last_leaves_nothing_behind) {
  lockable m;
  locker a;
  locker b;
  locker c;
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  ASSERT_TRUE(m.c.enter(&c.r));
  EXPECT_TRUE(m.c.withdraw(&b.r));
  EXPECT_FALSE(m.c.withdraw(&b.r));
  EXPECT_EQ(m.c.release_quietly(), step::must_wake);
  EXPECT_TRUE(m.c.withdraw(&c.r));
  EXPECT_EQ(m.c.release_quietly(), step::done);
  EXPECT_EQ(m.who_matters(), 0u);
}

TEST(mutex_core, who_gives_up_after_it_was_woken_passes_its_turn_on) {
  lockable m;
  locker a;
  locker b;
  locker c;
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  ASSERT_TRUE(m.c.enter(&c.r));
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_FALSE(m.c.withdraw(&b.r)) << "it was taken out";
  ASSERT_TRUE(m.c.take(&a.r));
  EXPECT_FALSE(m.c.take_or_give_up(&b.r));
  EXPECT_EQ(m.c.release_quietly(), step::must_wake);
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_EQ(c.who.nwoken, 1);
  EXPECT_TRUE(m.c.take_or_give_up(&c.r)) << "it is free, so it is taken after all";
}

TEST(mutex_core, those_of_a_runtime_that_has_ended_are_passed_over) {
  lockable m;
  locker a;
  locker left;
  locker b;
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&left.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  left.who.is_left_behind = true;
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_EQ(left.who.nwoken, 0);
  EXPECT_EQ(b.who.nwoken, 1);
  ASSERT_TRUE(m.c.take(&b.r));
  locker only;
  ASSERT_TRUE(m.c.enter(&only.r));
  only.who.is_left_behind = true;
  EXPECT_FALSE(m.c.release_to_next(test::wake));
  EXPECT_EQ(m.c.release_quietly(), step::done);
  EXPECT_EQ(m.who_matters(), 0u);
}

TEST(mutex_core, one_that_was_woken_and_left_behind_is_not_waited_for) {
  lockable m;
  locker a;
  locker left;
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&left.r));
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  ++test::parties::now;  // it never ran
  locker b;
  ASSERT_TRUE(m.c.take(&a.r));
  ASSERT_TRUE(m.c.enter(&b.r));
  EXPECT_EQ(m.c.release_quietly(), step::must_wake);
  ASSERT_TRUE(m.c.release_to_next(test::wake));
  EXPECT_EQ(b.who.nwoken, 1);
  ASSERT_TRUE(m.c.take(&b.r));
  EXPECT_EQ(m.c.release_quietly(), step::done);
  EXPECT_EQ(m.who_matters(), 0u);
}

// [mutex.no_touch_after_unlock]: whoever finds it free may destroy it, whatever the one before has still to do.
TEST(mutex_core, nothing_of_it_is_touched_once_somebody_is_woken) {
  struct {
    core::word state{0};
    test::room room;
  } m;
  locker a;
  locker b;
  core c(m.state, m.room.guard, m.room.first, m.room.last);
  ASSERT_TRUE(c.take(&a.r));
  ASSERT_TRUE(c.enter(&b.r));
  std::vector<unsigned char> rubbish(sizeof m, 0xA5);
  ASSERT_TRUE(c.release_to_next([&](party*) {
    std::memcpy(static_cast<void*>(&m), rubbish.data(), sizeof m);
    b.r = {};
  }));
  EXPECT_EQ(std::memcmp(&m, rubbish.data(), sizeof m), 0);
}

TEST(mutex_core, it_is_still_locked_when_the_queues_lock_is_freed) {
  using watched = mutex_core<test::watched_unlock, party, test::parties>;
  watched::word state{0};
  watched::lock guard;
  void* first = nullptr;
  void* last = nullptr;
  watched c(state, guard, first, last);
  party who;
  watched::record holder;
  watched::record r;
  r.who = &who;
  ASSERT_TRUE(c.take(&holder));
  ASSERT_TRUE(c.enter(&r));
  int nlooked = 0;
  auto look = [&] {
    ++nlooked;
    EXPECT_TRUE(c.is_locked());
  };
  test::watched_unlock::watch(look);
  ASSERT_TRUE(c.release_to_next(test::wake));
  test::watched_unlock::stop();
  EXPECT_EQ(nlooked, 1);
  EXPECT_FALSE(c.is_locked());
}

TEST(mutex_core, who_was_left_alone_for_a_while_frees_it_without_a_cas_until_somebody_comes) {
  os::init_restartables(true);
  constexpr std::uint32_t kTurnsToCalm = 3;
  using soon_calm = mutex_core<os::futex_atomics, party, test::parties, kTurnsToCalm>;
  soon_calm::word state{0};
  test::room room;
  soon_calm c{state, room.guard, room.first, room.last};
  // One that is stopped in the midst of it fails as well, which happens hardly ever twice.
  const auto frees_alone = [&] {
    for (int i = 0; i < 1000; ++i)
      if (c.release_alone()) return true;
    return false;
  };
  soon_calm::record mine;
  const auto calms_down = [&] {
    for (std::uint32_t i = 0; i < kTurnsToCalm; ++i) {
      EXPECT_FALSE(frees_alone()) << "after " << i << " turns";
      EXPECT_EQ(c.release_quietly(), soon_calm::step::done);
      EXPECT_TRUE(c.take(&mine));
    }
    EXPECT_TRUE(frees_alone());
    EXPECT_EQ(state.load(), soon_calm::kCalm);
    EXPECT_FALSE(frees_alone()) << "it is free";
    EXPECT_TRUE(c.take(&mine));
  };
  ASSERT_TRUE(c.take(&mine));
  calms_down();

  party who;
  soon_calm::record other;
  other.who = &who;
  ASSERT_TRUE(c.enter(&other));
  EXPECT_FALSE(frees_alone()) << "one waits";
  ASSERT_EQ(c.release_quietly(), soon_calm::step::must_wake);
  ASSERT_TRUE(c.release_to_next(test::wake));
  ASSERT_TRUE(c.take(&other));
  calms_down();
}

// Each thread waits as mutex.cpp does, with a spin in place of the note; some give up, some starve. The holder is calm again after one turn.
TEST(mutex_core_race, one_at_a_time_and_nobody_is_forgotten) {
  os::init_restartables(true);
  using core = mutex_core<os::futex_atomics, party, test::parties, 1>;
  using step = core::step;
  struct {
    core::word state{0};
    test::room room;
    core c{state, room.guard, room.first, room.last};
  } m;
  struct locker {
    party who;
    core::record r;
    locker() { r.who = &who; }
  };
  constexpr int kThreads = 4;
  constexpr int kRounds = 3000;
  int shared = 0;
  std::atomic<int> ngot{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        locker me;
        bool has_it = m.c.take(&me.r);
        for (int nwaits = 0; !has_it; ++nwaits) {
          me.r.is_starving = nwaits > 1;
          if (m.c.enter(&me.r)) {
            if (t == 0 && m.c.withdraw(&me.r)) break;
            me.who.await(1);
            me.who.nwoken = 0;
            if (me.r.has_lock) has_it = true;
          }
          if (!has_it) has_it = t == 1 ? m.c.take_or_give_up(&me.r) : m.c.take(&me.r);
          if (t == 1 && !has_it) break;
        }
        if (!has_it) continue;
        ++shared;
        ++ngot;
        if (!m.c.release_alone()) {
          while (m.c.release_quietly() == step::must_wake)
            if (m.c.release_to_next(test::wake)) break;
        }
        if (i % 8 == 0) std::this_thread::yield();
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(shared, ngot);
  EXPECT_GE(ngot, 2 * kRounds);
  EXPECT_EQ(m.state.load() & ~core::kTurns, 0u);
}

}  // namespace
}  // namespace weft::sync
