// foreign_threads.cpp: threads that weft did not start may call everything (B127, B128): there it blocks the thread.
#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/on_a_thread.hpp"

using weft::test::on_a_thread;

namespace {

TEST_FOR_PROCS(foreign_thread, may_start_goroutines_and_join_them) {
  on_a_thread([] {
    weft::event ran;
    weft::go([&] { ran.set(); });
    ran.wait();
    EXPECT_EQ(weft::spawn([] { return 12; }).join(), 12);
    EXPECT_THROW(weft::spawn([]() -> int { throw std::runtime_error("x"); }).join(),
                 std::runtime_error);
    auto [a, b] = weft::await_all(weft::spawn([] { return 1; }), weft::spawn([] { return 2; }));
    EXPECT_EQ(a + b, 3);
  });
}

TEST_FOR_PROCS(foreign_thread, waits_for_goroutines_and_goroutines_wait_for_it) {
  weft::event to_thread;
  weft::event to_goroutine;
  std::thread t([&] {
    to_thread.wait();
    to_goroutine.set();
  });
  to_thread.set();
  to_goroutine.wait();
  weft::blocking([&] { t.join(); });
}

TEST_FOR_PROCS(foreign_thread, counts_in_a_wait_group) {
  weft::wait_group wg;
  std::atomic<int> sum{0};
  wg.add(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      ++sum;
      wg.done();
    });
  }
  wg.wait();
  EXPECT_EQ(sum, 3);
  for (auto& t : threads) weft::blocking([&] { t.join(); });
  on_a_thread([&] {
    weft::wait_group mine;
    for (int i = 0; i < 10; ++i) mine.go([&] { ++sum; });
    mine.wait();
    EXPECT_EQ(sum, 13);
  });
}

TEST_FOR_PROCS(foreign_thread, stays_itself_across_every_call) {
  on_a_thread([] {
    const int tid = weft::test::thread_id();
    weft::yield();
    weft::checkpoint();
    weft::lock_os_thread();
    weft::unlock_os_thread();
    errno = 0;
    EXPECT_EQ(weft::blocking([] {
                errno = 77;
                return 5;
              }),
              5);
    EXPECT_EQ(errno, 77);
    weft::spawn([] {}).join();
    EXPECT_EQ(weft::test::thread_id(), tid);
  });
}

TEST_FOR_PROCS(foreign_thread, has_an_id_and_a_name_of_its_own) {
  const auto main_id = weft::this_goroutine::id();
  on_a_thread([&] {
    const auto id = weft::this_goroutine::id();
    EXPECT_NE(id, 0u);
    EXPECT_NE(id, main_id);
    EXPECT_EQ(id, weft::this_goroutine::id());
    EXPECT_EQ(weft::this_goroutine::name(), "");
    weft::this_goroutine::set_name("outsider");
    EXPECT_EQ(weft::this_goroutine::name(), "outsider");
  });
}

TEST(foreign_thread, that_called_in_before_the_runtime_began_shares_its_id_with_no_goroutine) {
  std::atomic<bool> may_end{false};
  std::atomic<std::uint64_t> outside{0};
  std::thread t([&] {
    outside = weft::this_goroutine::id();
    while (!may_end) std::this_thread::yield();
  });
  while (outside == 0) std::this_thread::yield();
  weft::test::run_on(2, [&] {
    EXPECT_NE(weft::this_goroutine::id(), outside.load());
    for (int i = 0; i < 64; ++i) {
      EXPECT_NE(weft::spawn([] { return weft::this_goroutine::id(); }).join(), outside.load());
    }
  });
  may_end = true;
  t.join();
}

TEST_FOR_PROCS(foreign_thread, does_not_count_as_a_goroutine) {
  on_a_thread([] {
    weft::this_goroutine::id();
    EXPECT_EQ(weft::num_goroutines(), 1u);
  });
}

TEST_FOR_PROCS(foreign_thread, has_goroutine_locals_that_end_with_it) {
  static std::atomic<int> alive{0};
  struct counted {
    counted() { ++alive; }
    ~counted() { --alive; }
    int value = 0;
  };
  static const int key = 0;
  on_a_thread([] {
    weft::this_goroutine::local<counted>(&key).value = 4;
    EXPECT_EQ(weft::this_goroutine::local<counted>(&key).value, 4);
    EXPECT_EQ(alive, 1);
  });
  EXPECT_EQ(alive, 0);
}

TEST_FOR_PROCS(foreign_thread, cannot_exit_as_a_goroutine_does) {
  on_a_thread([] { EXPECT_THROW(weft::exit_goroutine(), std::logic_error); });
}

TEST_FOR_PROCS(foreign_thread, may_change_max_procs) {
  on_a_thread([] {
    const unsigned before = weft::max_procs();
    EXPECT_EQ(weft::max_procs(3), before);
    EXPECT_EQ(weft::max_procs(), 3u);
  });
}

// B128: weft's own record of the thread is made after `late`, so it is gone when late's destructor calls in again.
struct calls_in_when_destroyed {
  ~calls_in_when_destroyed() {
    weft::event e;
    e.set();
    e.wait();
    weft::spawn([] {}).join();
    was_destroyed = true;
  }
  static inline std::atomic<bool> was_destroyed{false};
};
thread_local std::optional<calls_in_when_destroyed> late;

TEST_FOR_PROCS(foreign_thread, may_call_in_from_a_thread_local_destructor) {
  calls_in_when_destroyed::was_destroyed = false;
  on_a_thread([] {
    late.emplace();
    weft::spawn([] {}).join();
  });
  EXPECT_TRUE(calls_in_when_destroyed::was_destroyed);
}

// B127: threads come and go; what they used is used again.
TEST_FOR_PROCS(foreign_thread, hundreds_that_come_and_go_leave_nothing_behind) {
  std::atomic<int> sum{0};
  for (int round = 0; round < weft::test::scaled(100); ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { sum += weft::spawn([] { return 1; }).join(); });
    }
    for (auto& t : threads) weft::blocking([&] { t.join(); });
  }
  EXPECT_EQ(sum, 3 * weft::test::scaled(100));
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }));
}

TEST_FOR_PROCS(foreign_thread_race, threads_and_goroutines_hand_an_event_back_and_forth) {
  constexpr int kPairs = 3;
  constexpr int kRounds = weft::test::scaled(300);
  std::vector<std::thread> threads;
  std::vector<weft::event> to_thread(kPairs);
  std::vector<weft::event> to_goroutine(kPairs);
  weft::wait_group wg;
  for (int p = 0; p < kPairs; ++p) {
    auto& ping = to_thread[static_cast<std::size_t>(p)];
    auto& pong = to_goroutine[static_cast<std::size_t>(p)];
    threads.emplace_back([&ping, &pong] {
      for (int i = 0; i < kRounds; ++i) {
        ping.wait();
        ping.reset();
        pong.set();
      }
    });
    wg.go([&ping, &pong] {
      for (int i = 0; i < kRounds; ++i) {
        ping.set();
        pong.wait();
        pong.reset();
      }
    });
  }
  wg.wait();
  for (auto& t : threads) weft::blocking([&] { t.join(); });
}

TEST_FOR_PROCS(foreign_thread_race, destroys_what_it_waited_on_right_after_wait) {
  on_a_thread([] {
    for (int i = 0; i < weft::test::scaled(1000); ++i) {
      auto e = std::make_unique<weft::event>();
      weft::go([p = e.get()] { p->set(); });
      e->wait();
      e.reset();
      auto wg = std::make_unique<weft::wait_group>();
      wg->add(1);
      weft::go([p = wg.get()] { p->done(); });
      wg->wait();
    }
  });
}

TEST_FOR_PROCS(foreign_thread_race, an_idle_runtime_is_woken_by_every_go) {
  // One goroutine at a time, from outside, on a runtime that has gone idle or is about to.
  on_a_thread([] {
    for (int i = 0; i < weft::test::scaled(1000); ++i) {
      weft::event ran;
      weft::go([&] { ran.set(); });
      ran.wait();
      if (i % 16 == 0) std::this_thread::yield();
    }
  });
}

TEST(runtime_class, serves_plain_threads_without_a_main_goroutine) {
  weft::runtime rt({.max_procs = 2});
  EXPECT_EQ(weft::spawn([] { return 3; }).join(), 3);
  weft::wait_group wg;
  std::atomic<int> n{0};
  for (int i = 0; i < 100; ++i) wg.go([&] { ++n; });
  wg.wait();
  EXPECT_EQ(n, 100);
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 0; }));
}

TEST(foreign_thread, errors_of_goroutines_reach_the_thread_that_joins) {
  weft::runtime rt;
  auto exited = weft::spawn([] { weft::exit_goroutine(); });
  EXPECT_THROW(exited.join(), weft::goroutine_exited);
}

}  // namespace
