// event.cpp: weft::event: who waits is let through once it is set, and may destroy it then.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

TEST_FOR_PROCS(event, wait_on_a_set_event_returns_at_once) {
  weft::event e;
  EXPECT_FALSE(e.is_set());
  e.set();
  EXPECT_TRUE(e.is_set());
  e.wait();
  e.wait();
}

TEST_FOR_PROCS(event, setting_twice_is_as_good_as_once) {
  weft::event e;
  e.set();
  e.set();
  e.wait();
  e.reset();
  EXPECT_FALSE(e.is_set());
}

TEST_FOR_PROCS(event, set_lets_everyone_through_who_waits) {
  weft::event e;
  weft::wait_group through;
  std::atomic<int> waiting{0};
  std::atomic<int> early{0};
  std::atomic<bool> is_set{false};
  for (int i = 0; i < 100; ++i) {
    through.go([&] {
      ++waiting;
      e.wait();
      if (!is_set) ++early;
    });
  }
  ASSERT_TRUE(weft::test::eventually([&] { return waiting == 100; }));
  is_set = true;
  e.set();
  through.wait();
  EXPECT_EQ(early, 0);
}

TEST(event, those_who_wait_are_let_through_first_come_first) {
  if (weft::test::is_migrating()) GTEST_SKIP() << "two threads take turns";
  weft::test::run_on(1, [] {
    weft::event e;
    std::vector<int> order;
    weft::wait_group wg;
    for (int i = 0; i < 5; ++i) {
      weft::event waits;
      wg.go([&, i] {
        waits.set();
        e.wait();
        order.push_back(i);
      });
      waits.wait();
      weft::yield();
    }
    e.set();
    wg.wait();
    // The last one woken is at the front of the queue; the others keep their order.
    ASSERT_EQ(order.size(), 5u);
    for (int i = 0; i + 1 < 4; ++i) {
      EXPECT_LT(std::find(order.begin(), order.end(), i),
                std::find(order.begin(), order.end(), i + 1));
    }
  });
}

// More than fit into the queue of a P, and plain threads among them.
TEST_FOR_PROCS(event, set_lets_a_crowd_through) {
  constexpr int kCrowd = 3000;
  weft::event e;
  std::atomic<int> waiting{0};
  std::atomic<int> gone_on{0};
  const auto wait = [&] {
    ++waiting;
    e.wait();
    ++gone_on;
  };
  weft::wait_group through;
  std::vector<std::thread> threads;
  for (int i = 0; i < kCrowd; ++i) {
    through.go(wait);
    if (i % 1000 == 0) threads.emplace_back(wait);
  }
  const int nall = kCrowd + static_cast<int>(threads.size());
  ASSERT_TRUE(weft::test::eventually([&] { return waiting == nall; }));
  EXPECT_EQ(gone_on, 0);
  e.set();
  through.wait();
  weft::blocking([&] {
    for (std::thread& each : threads) each.join();
  });
  EXPECT_EQ(gone_on, nall);
}

TEST(event, a_crowd_goes_on_first_come_first) {
  if (weft::test::is_migrating()) GTEST_SKIP() << "two threads take turns";
  weft::test::run_on(1, [] {
    constexpr int kCrowd = 3000;
    weft::event e;
    std::vector<int> order;
    weft::wait_group wg;
    for (int i = 0; i < kCrowd; ++i) {
      wg.go([&, i] {
        e.wait();
        order.push_back(i);
      });
      weft::yield();  // it waits
    }
    e.set();
    wg.wait();
    ASSERT_EQ(order.size(), static_cast<std::size_t>(kCrowd));
    // Every 61st is taken from the global queue before those who came earlier and are in the P's own: that one is out of its turn.
    int nout_of_turn = 0;
    for (std::size_t i = 1; i < order.size(); ++i) nout_of_turn += order[i] < order[i - 1] ? 1 : 0;
    EXPECT_LT(nout_of_turn, kCrowd / 30);
  });
}

TEST_FOR_PROCS(event, reset_closes_the_door_again) {
  weft::event e;
  e.set();
  e.wait();
  e.reset();
  std::atomic<bool> passed{false};
  auto h = weft::spawn([&] {
    e.wait();
    passed = true;
  });
  for (int i = 0; i < 100; ++i) weft::yield();
  EXPECT_FALSE(passed);
  e.set();
  h.join();
}

TEST_FOR_PROCS(event, reset_does_not_disturb_those_who_wait) {
  weft::event e;
  std::atomic<int> waiting{0};
  auto h = weft::spawn([&] {
    ++waiting;
    e.wait();
  });
  ASSERT_TRUE(weft::test::eventually([&] { return waiting == 1; }));
  for (int i = 0; i < 10; ++i) weft::yield();
  e.reset();
  EXPECT_FALSE(e.is_set());
  e.set();
  h.join();
}

TEST_FOR_PROCS(event, ping_pong_by_reset_and_set) {
  weft::event ping;
  weft::event pong;
  constexpr int kRounds = weft::test::scaled(2000);
  auto h = weft::spawn([&] {
    for (int i = 0; i < kRounds; ++i) {
      ping.wait();
      ping.reset();
      pong.set();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    ping.set();
    pong.wait();
    pong.reset();
  }
  h.join();
}

// HAZARD 51: the event lies in memory that is poisoned and used again the moment wait() returns.
TEST_FOR_PROCS(event_race, may_be_destroyed_right_after_wait) {
  for (int i = 0; i < weft::test::scaled(5000); ++i) {
    auto e = std::make_unique<weft::event>();
    weft::go([p = e.get()] { p->set(); });
    if (i % 3 == 0) weft::yield();
    e->wait();
    e.reset();
    [[maybe_unused]] auto reused =
        std::make_unique<std::uintptr_t>(0x5A5A5A5A5A5A5A5Au);  // most likely the same block
    ASSERT_EQ(*reused, 0x5A5A5A5A5A5A5A5Au);
  }
}

TEST_FOR_PROCS(event_race, on_a_stack_that_ends_right_after_wait) {
  std::atomic<int> failures{0};
  weft::wait_group wg;
  for (int worker = 0; worker < 4; ++worker) {
    wg.go([&] {
      for (int i = 0; i < weft::test::scaled(1000); ++i) {
        weft::spawn([&] {
          weft::event e;
          weft::go([&e] { e.set(); });
          e.wait();
          if (!e.is_set()) ++failures;
        }).join();
      }
    });
  }
  wg.wait();
  EXPECT_EQ(failures, 0);
}

TEST_FOR_PROCS(event_race, two_setters_and_two_waiters_meet) {
  for (int i = 0; i < weft::test::scaled(2000); ++i) {
    weft::event e;
    weft::wait_group wg;
    wg.go([&] { e.set(); });
    wg.go([&] { e.wait(); });
    wg.go([&] { e.set(); });
    wg.go([&] { e.wait(); });
    wg.wait();
    ASSERT_TRUE(e.is_set());
  }
}

TEST_FOR_PROCS(event_race, a_waiter_is_never_woken_twice_nor_forgotten) {
  // Each waiter goes from one event to the next; a stray wake-up would let it pass an event that is not set.
  constexpr int kEvents = 64;
  for (int round = 0; round < weft::test::scaled(30); ++round) {
    std::vector<weft::event> events(kEvents);
    std::vector<std::atomic<bool>> was_set(kEvents);
    std::atomic<int> early{0};
    weft::wait_group wg;
    for (int w = 0; w < 3; ++w) {
      wg.go([&] {
        for (int i = 0; i < kEvents; ++i) {
          events[static_cast<std::size_t>(i)].wait();
          if (!was_set[static_cast<std::size_t>(i)]) ++early;
        }
      });
    }
    wg.go([&] {
      for (int i = 0; i < kEvents; ++i) {
        was_set[static_cast<std::size_t>(i)] = true;
        events[static_cast<std::size_t>(i)].set();
        if (i % 5 == 0) weft::yield();
      }
    });
    wg.wait();
    ASSERT_EQ(early, 0);
  }
}

}  // namespace
