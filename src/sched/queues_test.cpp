// queues_test.cpp: between a P's queue and the global one nothing is lost (B005, B007), without any thread running; and what comes too late is
// not queued at all.
#include "sched/queues.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <vector>

#include "sched/find_runnable.hpp"
#include "sched/start.hpp"
#include "sched/wake.hpp"

#include <weft/go.hpp>
#include <weft/runtime.hpp>

namespace weft::sched {
namespace {

// A P and goroutines that never run. The scheduler's state is the process's, so each test leaves it empty.
class queues : public testing::Test {
 protected:
  void SetUp() override {
    if (sched.now.load() != phase::stopped) GTEST_SKIP() << "a runtime is active";
    sched.nprocs.store(1);
  }
  void TearDown() override {
    locked l;
    while (sched.runq.pop_front() != nullptr) continue;
    sched.nrunq.store(0);
    sched.nprocs.store(0);
  }
  std::size_t global_size() {
    locked l;
    EXPECT_EQ(sched.runq.size(), sched.nrunq.load());
    return sched.runq.size();
  }
  std::vector<G*> drain_global() {
    std::vector<G*> all;
    locked l;
    while (G* const gp = sched.runq.pop_front()) all.push_back(gp);
    sched.nrunq.store(0);
    return all;
  }

  std::unique_ptr<P> pp = std::make_unique<P>();
  std::vector<G> gs = std::vector<G>(1000);
};

TEST_F(queues, a_full_ring_spills_its_older_half_in_one_batch_and_keeps_the_newcomer) {
  constexpr auto kFull = rt::run_queue::kCapacity;
  for (std::size_t i = 0; i < kFull; ++i) put_local(pp.get(), &gs[i]);
  EXPECT_EQ(global_size(), 0u);
  put_local(pp.get(), &gs[kFull]);
  EXPECT_EQ(global_size(), kFull / 2);
  EXPECT_EQ(pp->queue.ring_size(), kFull / 2 + 1);
  const auto global = drain_global();
  for (std::size_t i = 0; i < kFull / 2; ++i) EXPECT_EQ(global[i], &gs[i]);
  for (std::size_t i = kFull / 2; i <= kFull; ++i) EXPECT_EQ(pp->queue.pop(), &gs[i]);
}

TEST_F(queues, a_thousand_put_by_either_way_are_each_in_one_place) {
  for (std::size_t i = 0; i < gs.size(); ++i) {
    if (i % 3 == 0) {
      put_next(pp.get(), &gs[i]);
    } else {
      put_local(pp.get(), &gs[i]);
    }
  }
  std::multiset<G*> found;
  for (G* gp : drain_global()) found.insert(gp);
  if (G* const gp = pp->queue.take_next()) found.insert(gp);
  while (G* const gp = pp->queue.pop()) found.insert(gp);
  EXPECT_EQ(found.size(), gs.size());
  EXPECT_EQ(std::set<G*>(found.begin(), found.end()).size(), gs.size());
}

TEST_F(queues, who_was_in_front_goes_to_the_end) {
  put_next(pp.get(), &gs[0]);
  put_next(pp.get(), &gs[1]);
  EXPECT_EQ(pp->queue.take_next(), &gs[1]);
  EXPECT_EQ(pp->queue.pop(), &gs[0]);
}

int nwoken = 0;
void count_wake() noexcept { ++nwoken; }

TEST_F(queues, a_front_is_announced_until_the_p_has_taken_some_by_itself) {
  nwoken = 0;
  for (std::int32_t i = 0; i < kTrustToDefer; ++i) {
    put_in_front(pp.get(), &gs[0], count_wake);
    EXPECT_EQ(nwoken, i + 1);
    EXPECT_FALSE(pp->queue.is_empty()) << "thieves see it";
    EXPECT_EQ(take_own(pp.get()), &gs[0]);
  }
  put_in_front(pp.get(), &gs[0], count_wake);
  EXPECT_EQ(nwoken, kTrustToDefer) << "nobody is woken";
  EXPECT_TRUE(pp->queue.is_empty()) << "no thief sees it";
  EXPECT_TRUE(is_deferring(pp.get())) << "sysmon does";
  EXPECT_TRUE(has_work(pp.get())) << "and whoever gets the P";
  EXPECT_EQ(take_own(pp.get()), &gs[0]);
  EXPECT_FALSE(is_deferring(pp.get()));
  EXPECT_FALSE(has_work(pp.get()));
}

TEST_F(queues, a_second_one_makes_the_handy_one_known) {
  nwoken = 0;
  pp->defer_trust = kTrustToDefer;
  put_in_front(pp.get(), &gs[0], count_wake);
  put_in_front(pp.get(), &gs[1], count_wake);
  EXPECT_EQ(nwoken, 1);
  EXPECT_FALSE(is_deferring(pp.get()));
  EXPECT_EQ(take_own(pp.get()), &gs[1]) << "the youngest is next";
  EXPECT_EQ(take_own(pp.get()), &gs[0]);
}

TEST_F(queues, once_a_front_was_stolen_the_next_ones_are_announced) {
  nwoken = 0;
  pp->defer_trust = kTrustMax;
  pp->was_defer_wrong.store(true);
  put_in_front(pp.get(), &gs[0], count_wake);
  EXPECT_EQ(nwoken, 1);
  EXPECT_EQ(take_own(pp.get()), &gs[0]);
  put_in_front(pp.get(), &gs[0], count_wake);
  EXPECT_EQ(nwoken, 2);
  EXPECT_EQ(take_own(pp.get()), &gs[0]);
}

TEST_F(queues, a_p_that_is_drained_keeps_nobody_handy) {
  pp->defer_trust = kTrustToDefer;
  put_in_front(pp.get(), &gs[0], count_wake);
  {
    locked l;
    drain_locked(pp.get());
  }
  EXPECT_FALSE(has_work(pp.get()));
  EXPECT_FALSE(is_deferring(pp.get()));
  EXPECT_EQ(drain_global(), std::vector<G*>{&gs[0]});
}

TEST_F(queues, taking_from_the_global_queue_gives_the_oldest_and_a_fair_share) {
  for (std::size_t i = 0; i < 100; ++i) put_global(&gs[i]);
  sched.nprocs.store(4);
  EXPECT_EQ(take_global(pp.get(), 1), &gs[0]);
  EXPECT_EQ(pp->queue.ring_size(), 0u);
  EXPECT_EQ(take_global(pp.get(), 128), &gs[1]);
  EXPECT_EQ(pp->queue.ring_size(), 99u / 4) << "a quarter, one of which runs now";
  EXPECT_EQ(pp->queue.pop(), &gs[2]);
  EXPECT_EQ(global_size(), 100u - 1 - (99u / 4 + 1));
}

// B007: what is taken must fit, or it would overflow back into the queue whose lock is held.
TEST_F(queues, taking_with_a_full_ring_takes_one_and_never_overflows_back) {
  constexpr auto kFull = rt::run_queue::kCapacity;
  for (std::size_t room = 0; room < 4; ++room) {
    std::size_t i = 0;
    while (pp->queue.ring_size() < kFull - room) put_local(pp.get(), &gs[i++]);
    for (int n = 0; n < 10; ++n) put_global(&gs[i++]);
    ASSERT_NE(take_global(pp.get(), 128), nullptr);  // would deadlock, not fail
    EXPECT_EQ(pp->queue.ring_size(), kFull) << "with room for " << room;
    EXPECT_EQ(global_size(), 9 - room);
    while (pp->queue.pop() != nullptr) continue;
    drain_global();
  }
}

TEST_F(queues, an_empty_global_queue_gives_null) {
  EXPECT_FALSE(has_global());
  EXPECT_EQ(take_global(pp.get(), 128), nullptr);
  put_global(&gs[0]);
  EXPECT_TRUE(has_global());
}

TEST_F(queues, draining_a_p_moves_everything_the_picked_one_first) {
  for (std::size_t i = 0; i < 10; ++i) put_local(pp.get(), &gs[i]);
  put_next(pp.get(), &gs[10]);
  pp->picked = &gs[11];
  {
    locked l;
    drain_locked(pp.get());
  }
  EXPECT_TRUE(pp->queue.is_empty());
  EXPECT_EQ(pp->picked, nullptr);
  const auto all = drain_global();
  ASSERT_EQ(all.size(), 12u);
  EXPECT_EQ(all[0], &gs[11]);
  EXPECT_EQ(std::set<G*>(all.begin(), all.end()).size(), 12u);
}

// A plain thread that calls go(), or wakes somebody, may be held up before its last step while that runtime ends.
TEST_F(queues, one_of_a_runtime_that_has_ended_is_not_queued) {
  gs[0].epoch = sched.epoch.load() - 1;
  submit(&gs[0]);
  EXPECT_EQ(global_size(), 0u);
  submit_woken(&gs[0]);
  EXPECT_EQ(global_size() + sched.urgent.size(), 0u);
  gs[1].epoch = sched.epoch.load();
  submit(&gs[1]);
  EXPECT_EQ(global_size(), 1u);
}

std::atomic<int> nlate_runs{0};

// The same with two runtimes: it was made in the first, and comes to the queue in the second.
TEST(late_submit, a_goroutine_of_the_last_runtime_does_not_run_in_the_next_one) {
  for (const auto come : {&submit, &submit_woken}) {
    G* gp = nullptr;
    {
      const weft::runtime first({.max_procs = 1});
      gp = new_g(nullptr);
      ASSERT_NE(gp, nullptr);
      set_origin(gp, [](void*) { ++nlate_runs; }, nullptr, nullptr);
      gp->become(g_status::runnable);
    }
    const weft::runtime second({.max_procs = 1});
    come(gp);
    // On one P whoever is queued later runs later.
    for (int i = 0; i < 10; ++i) weft::spawn([] { weft::yield(); }).join();
    EXPECT_EQ(nlate_runs, 0);
  }
}

}  // namespace
}  // namespace weft::sched
