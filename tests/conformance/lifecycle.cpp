// lifecycle.cpp: run and class runtime: the beginning, the end, and beginning again.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

TEST(run, returns_what_main_returns) {
  EXPECT_EQ(weft::run([] { return 7; }), 7);
  EXPECT_EQ(weft::run([] {}), 0);
  EXPECT_EQ(weft::run({.max_procs = 1}, [] { return -3; }), -3);
  int calls = 0;
  auto main = [&] { return ++calls; };
  EXPECT_EQ(weft::run(main), 1);
  EXPECT_EQ(calls, 1);
}

TEST(run, takes_a_move_only_main) {
  EXPECT_EQ(weft::run([p = std::make_unique<int>(4)] { return *p; }), 4);
}

TEST(run, lets_an_exception_out) {
  try {
    weft::run([] { throw std::runtime_error("from main"); });
    ADD_FAILURE() << "run returned";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "from main");
  }
  EXPECT_EQ(weft::run([] { return 1; }), 1);
}

TEST(run, may_be_called_again_and_again) {
  for (int i = 0; i < weft::test::scaled(200); ++i) {
    ASSERT_EQ(weft::run({.max_procs = 1 + static_cast<unsigned>(i % 4)},
                        [i] { return weft::spawn([i] { return i; }).join(); }),
              i);
  }
}

TEST(run, in_different_threads_one_after_the_other) {
  for (int i = 0; i < 5; ++i) {
    std::thread([] {
      EXPECT_EQ(weft::run([] { return weft::spawn([] { return 2; }).join(); }), 2);
    }).join();
  }
}

TEST_FOR_PROCS(run, inside_a_goroutine_throws_logic_error) {
  EXPECT_THROW(weft::run([] {}), std::logic_error);
  EXPECT_THROW(weft::runtime(), std::logic_error);
  EXPECT_EQ(weft::spawn([] { return 1; }).join(), 1);
}

TEST_FOR_PROCS(run, in_a_second_thread_at_the_same_time_throws_logic_error) {
  std::thread t([] { EXPECT_THROW(weft::run([] {}), std::logic_error); });
  weft::blocking([&] { t.join(); });
}

TEST(run, is_over_for_go_when_it_returns) {
  weft::run([] {});
  EXPECT_THROW(weft::go([] {}), weft::not_running);
}

// Abandoned, in every state a goroutine can be in; none of them runs on into the next runtime.
TEST(run, abandons_goroutines_that_are_alive_when_main_returns) {
  static std::atomic<int> after{0};
  static weft::event never;
  static weft::wait_group never_done;
  static std::atomic<bool> stop{false};
  struct counts_when_destroyed {
    ~counts_when_destroyed() { ++after; }
  };
  after = 0;
  never_done.add(1);
  for (int i = 0; i < 10; ++i) {
    stop = false;
    weft::test::run_on(3, [] {
      weft::wait_group begun;
      begun.add(4);
      weft::go([&] {
        counts_when_destroyed c;
        begun.done();
        never.wait();
        ++after;
      });
      weft::go([&] {
        begun.done();
        never_done.wait();
        ++after;
      });
      weft::go([&] {
        begun.done();
        for (;;) weft::yield();
      });
      weft::go([&] {
        weft::lock_os_thread();
        begun.done();
        never.wait();
        ++after;
      });
      for (int n = 0; n < 300; ++n) weft::go([] { never.wait(); });
      begun.wait();
    });
    stop = true;
  }
  EXPECT_EQ(after, 0);
}

TEST(run, abandons_goroutines_that_never_began) {
  static std::atomic<int> begun{0};
  weft::test::run_on(1, [] {
    for (int i = 0; i < 1000; ++i) weft::go([] { ++begun; });
  });
  const int at_the_end = begun;
  weft::test::run_on(1, [] {
    for (int i = 0; i < 100; ++i) weft::yield();
  });
  EXPECT_EQ(begun, at_the_end);
}

TEST(run, one_that_runs_user_code_when_main_returns_stops_at_its_next_call) {
  static std::atomic<int> stage{0};
  static std::atomic<bool> may_call{false};
  stage = 0;
  may_call = false;
  weft::test::run_on(2, [] {
    weft::go([] {
      stage = 1;
      while (!may_call) std::this_thread::yield();
      stage = 2;
      weft::yield();  // never returns
      stage = 3;
    });
    while (stage != 1) std::this_thread::yield();
  });
  may_call = true;
  while (stage != 2) std::this_thread::yield();
  EXPECT_EQ(weft::run([] { return weft::spawn([] { return 8; }).join(); }), 8);
  EXPECT_EQ(stage, 2);
}

TEST(run, one_inside_blocking_when_main_returns_never_comes_back) {
  static std::atomic<int> stage{0};
  static std::atomic<bool> may_return{false};
  stage = 0;
  may_return = false;
  weft::test::run_on(1, [] {
    weft::go([] {
      weft::blocking([] {
        stage = 1;
        while (!may_return) std::this_thread::yield();
        stage = 2;
      });
      stage = 3;
    });
    EXPECT_TRUE(weft::test::eventually([] { return stage == 1; }));
  });
  may_return = true;
  while (stage != 2) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) weft::run([] { weft::yield(); });
  EXPECT_EQ(stage, 2);
}

TEST(run, waiters_left_on_an_object_that_outlives_it_are_skipped) {
  weft::event e;
  weft::wait_group wg;
  wg.add(1);
  static std::atomic<int> woken{0};
  weft::test::run_on(2, [&] {
    weft::wait_group begun;
    begun.add(6);
    for (int i = 0; i < 3; ++i) {
      weft::go([&] {
        begun.done();
        e.wait();
        ++woken;
      });
      weft::go([&] {
        begun.done();
        wg.wait();
        ++woken;
      });
    }
    begun.wait();
    for (int i = 0; i < 20; ++i) weft::yield();
  });
  e.set();  // from outside any runtime
  wg.done();
  weft::test::run_on(2, [&] {
    e.set();
    e.wait();
    wg.wait();
    weft::spawn([] {}).join();
  });
  EXPECT_EQ(woken, 0);
}

TEST(run, a_foreign_thread_that_waits_over_its_end_is_still_served) {
  weft::event e;
  std::atomic<bool> waits{false};
  std::thread t([&] {
    waits = true;
    e.wait();
  });
  while (!waits) std::this_thread::yield();
  weft::run([] {});
  weft::run([&] { weft::spawn([&] { e.set(); }).join(); });
  t.join();
}

TEST(run, main_that_exits_by_a_deep_return_leaves_nothing_on_the_thread) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(weft::run([] {
                const std::string long_enough(1000, 'x');
                return static_cast<int>(long_enough.size());
              }),
              1000);
  }
}

TEST(runtime_class, begins_and_ends_again_and_again) {
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    weft::runtime rt({.max_procs = 2});
    ASSERT_EQ(weft::spawn([i] { return i; }).join(), i);
  }
  EXPECT_THROW(weft::go([] {}), weft::not_running);
}

TEST(runtime_class, two_at_once_throw_logic_error) {
  weft::runtime rt;
  EXPECT_THROW(weft::runtime(), std::logic_error);
  EXPECT_THROW(weft::run([] {}), std::logic_error);
  EXPECT_EQ(weft::spawn([] { return 1; }).join(), 1);
}

TEST(runtime_class, its_end_abandons_what_is_alive) {
  static weft::event never;
  static std::atomic<bool> begun{false};
  {
    weft::runtime rt({.max_procs = 2});
    weft::go([] {
      begun = true;
      never.wait();
      ADD_FAILURE() << "woken";
    });
    while (!begun) std::this_thread::yield();
  }
  never.set();
}

TEST(run_race, ends_while_goroutines_spawn_yield_block_and_lock) {
  const int rounds = weft::test::scaled(30);
  for (int i = 0; i < rounds; ++i) {
    weft::test::run_on(1 + static_cast<unsigned>(i % 4), [i] {
      for (int n = 0; n < 4; ++n) {
        weft::go([] {
          for (;;) {
            weft::go([] { weft::yield(); });
            weft::yield();
          }
        });
        weft::go([] {
          for (;;) weft::blocking([] { std::this_thread::yield(); });
        });
        weft::go([] {
          for (;;) {
            weft::lock_os_thread();
            weft::yield();
            weft::unlock_os_thread();
          }
        });
      }
      for (int n = 0; n < i % 7; ++n) weft::yield();
    });
  }
}

TEST(run_race, ends_while_foreign_threads_call_in) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        try {
          weft::go([] { weft::yield(); });
        } catch (const weft::not_running&) {
        }
        std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(100); ++i)
    ASSERT_EQ(weft::run({.max_procs = 2}, [] { return weft::spawn([] { return 3; }).join(); }), 3);
  stop = true;
  for (auto& t : threads) t.join();
}

}  // namespace
