// latch_barrier.cpp: weft::latch and weft::barrier: all have come, once or again and again (misuse is in tests/death).
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

TEST_FOR_PROCS(latch, opens_when_all_have_come_and_stays_open) {
  weft::latch l(3);
  EXPECT_FALSE(l.try_wait());
  int made[3] = {};
  for (int i = 0; i < 3; ++i) {
    weft::go([&, i] {
      weft::yield();
      made[i] = 1;
      l.count_down();
    });
  }
  l.wait();
  EXPECT_EQ(made[0] + made[1] + made[2], 3);
  EXPECT_TRUE(l.try_wait());
  l.wait();
}

TEST_FOR_PROCS(latch, nobody_passes_before_the_last) {
  weft::latch l(10);
  std::atomic<int> ncame{0};
  std::atomic<int> early{0};
  weft::wait_group wg;
  for (int i = 0; i < 10; ++i) {
    wg.go([&] {
      ++ncame;
      l.arrive_and_wait();
      if (ncame != 10) ++early;
    });
  }
  wg.wait();
  EXPECT_EQ(early, 0);
}

TEST_FOR_PROCS(latch, counts_several_at_once_and_zero_is_open) {
  weft::latch l(5);
  l.count_down(0);
  l.count_down(2);
  EXPECT_FALSE(l.try_wait());
  l.arrive_and_wait(3);
  EXPECT_TRUE(l.try_wait());
  weft::latch open(0);
  open.wait();
}

TEST_FOR_PROCS(latch, goroutines_and_plain_threads_meet_at_one) {
  for (int round = 0; round < weft::test::scaled(50); ++round) {
    weft::latch l(4);
    std::thread a([&] { l.arrive_and_wait(); });
    std::thread b([&] { l.count_down(); });
    auto c = weft::spawn([&] { l.arrive_and_wait(); });
    l.arrive_and_wait();
    c.join();
    weft::blocking([&] {
      a.join();
      b.join();
    });
    ASSERT_TRUE(l.try_wait());
  }
}

// HAZARD 51
// As std::latch and std::barrier: who may only look at one may wait at it.
TEST_FOR_PROCS(latch, const_ones_can_be_waited_at) {
  weft::latch l(1);
  weft::barrier b(1);
  const auto wait_at = [](const weft::latch& at) { at.wait(); };
  weft::go([&] { l.count_down(); });
  wait_at(l);
  EXPECT_TRUE(l.try_wait());
  std::as_const(b).wait(b.arrive());
}

TEST_FOR_PROCS(latch_race, may_be_destroyed_right_after_wait) {
  for (int i = 0; i < weft::test::scaled(3000); ++i) {
    auto l = std::make_unique<weft::latch>(1);
    weft::go([p = l.get()] { p->count_down(); });
    if (i % 3 == 0) weft::yield();
    l->wait();
    l.reset();
  }
}

TEST_FOR_PROCS(barrier, nobody_goes_on_before_all_have_come_phase_after_phase) {
  constexpr int kParties = 5;
  constexpr int kPhases = weft::test::scaled(200);
  weft::barrier b(kParties);
  std::atomic<int> ncame{0};
  std::atomic<int> early{0};
  weft::wait_group wg;
  for (int i = 0; i < kParties; ++i) {
    wg.go([&] {
      for (int phase = 1; phase <= kPhases; ++phase) {
        ++ncame;
        b.arrive_and_wait();
        if (ncame < phase * kParties) ++early;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(early, 0);
  EXPECT_EQ(ncame, kParties * kPhases);
}

TEST_FOR_PROCS(barrier, the_completion_runs_once_per_phase_before_anybody_goes_on) {
  constexpr int kParties = 4;
  constexpr int kPhases = weft::test::scaled(200);
  int completed = 0;  // written by the completion only, which nobody is beside
  int mine[kParties] = {};
  std::atomic<int> wrong{0};
  weft::barrier b(kParties, [&]() noexcept {
    weft::yield();  // it is code like any other
    ++completed;
    for (const int each : mine)
      if (each != completed) ++wrong;
  });
  weft::wait_group wg;
  for (int i = 0; i < kParties; ++i) {
    wg.go([&, i] {
      for (int phase = 1; phase <= kPhases; ++phase) {
        mine[i] = phase;
        b.arrive_and_wait();
        if (completed != phase) ++wrong;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(completed, kPhases);
  EXPECT_EQ(wrong, 0);
}

TEST_FOR_PROCS(barrier, arriving_and_waiting_are_two_things) {
  weft::barrier b(2);
  auto token = b.arrive();
  std::atomic<bool> is_through{false};
  auto h = weft::spawn([&] {
    b.wait(std::move(token));
    is_through = true;
  });
  for (int i = 0; i < 20; ++i) weft::yield();
  EXPECT_FALSE(is_through);
  auto other = b.arrive();
  b.wait(std::move(other));
  h.join();
  auto both = b.arrive(2);  // one may come for several
  b.wait(std::move(both));
}

TEST_FOR_PROCS(barrier, who_drops_out_is_not_expected_again) {
  constexpr int kParties = 6;
  weft::barrier b(kParties);
  std::atomic<int> nleft{kParties};
  std::atomic<int> wrong{0};
  weft::wait_group wg;
  for (int i = 0; i < kParties; ++i) {
    wg.go([&, i] {
      for (int phase = 0; phase < i; ++phase) b.arrive_and_wait();
      if (nleft-- < kParties - i) ++wrong;
      b.arrive_and_drop();
    });
  }
  wg.wait();
  EXPECT_EQ(nleft, 0);
  EXPECT_EQ(wrong, 0);
}

TEST_FOR_PROCS(barrier, goroutines_and_plain_threads_meet_at_one) {
  constexpr int kPhases = weft::test::scaled(300);
  int completed = 0;
  weft::barrier b(4, [&]() noexcept { ++completed; });
  const auto work = [&] {
    for (int i = 0; i < kPhases; ++i) b.arrive_and_wait();
  };
  std::thread a(work);
  std::thread c(work);
  auto d = weft::spawn(work);
  work();
  d.join();
  weft::blocking([&] {
    a.join();
    c.join();
  });
  EXPECT_EQ(completed, kPhases);
}

// HAZARD 51: a lone waiter is through, and the last to arrive may still be on its way out of arrive().
TEST_FOR_PROCS(barrier_race, may_be_destroyed_right_after_wait) {
  for (int i = 0; i < weft::test::scaled(3000); ++i) {
    auto b = std::make_unique<weft::barrier<>>(2);
    auto h = weft::spawn([p = b.get()] { (void)p->arrive(); });
    if (i % 3 == 0) weft::yield();
    b->arrive_and_wait();
    b.reset();
    h.join();
  }
}

}  // namespace
