// restart.cpp: plain threads do not notice that one runtime ends and another begins: what they hold stays good, and what they start
// is started, refused or abandoned, but counted right.
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

TEST(restart_race, threads_that_go_on_starting_goroutines_leave_the_count_right) {
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> nstarted{0};
  static std::atomic<std::uint64_t> nrun;  // an abandoned goroutine must not refer to this function
  nrun = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!is_over) {
        // Three threads that do nothing else can start more than two processors run, and main waits behind them: for ever under chaos=all.
        if (weft::num_goroutines() > 1000) std::this_thread::yield();
        try {
          weft::go([] { ++nrun; });
          ++nstarted;
        } catch (const weft::not_running&) {
          std::this_thread::yield();
        }
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(150); ++i) {
    weft::test::run_on(1 + static_cast<unsigned>(i % 3), [] { weft::yield(); });
  }
  is_over = true;
  for (auto& t : threads) t.join();
  EXPECT_LE(nrun, nstarted);
  weft::test::run_on(2, [] {
    EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }))
        << weft::num_goroutines();
  });
}

// The closure's own copy takes so long that the runtime it was meant for is over, and perhaps the next one runs.
TEST(restart, a_goroutine_that_comes_too_late_for_its_runtime_is_neither_run_nor_counted) {
  struct slow_to_copy {
    std::atomic<bool>* is_copying;
    std::atomic<bool>* may_go_on;
    slow_to_copy(std::atomic<bool>* c, std::atomic<bool>* g) : is_copying(c), may_go_on(g) {}
    slow_to_copy(const slow_to_copy& other)
        : is_copying(other.is_copying), may_go_on(other.may_go_on) {
      *is_copying = true;
      while (!*may_go_on) std::this_thread::yield();
    }
    void operator()() const { ADD_FAILURE() << "it ran in a runtime that is not its own"; }
  };
  for (const bool is_in_the_next : {false, true}) {
    std::atomic<bool> is_copying{false};
    std::atomic<bool> may_go_on{false};
    std::thread t;
    weft::test::run_on(2, [&] {
      t = std::thread([&] {
        const slow_to_copy f(&is_copying, &may_go_on);
        weft::go(f);
      });
      EXPECT_TRUE(weft::test::eventually([&] { return is_copying.load(); }));
    });
    if (!is_in_the_next) {
      may_go_on = true;
      t.join();
    }
    weft::test::run_on(2, [&] {
      may_go_on = true;
      if (is_in_the_next) weft::blocking([&] { t.join(); });
      for (int i = 0; i < 10; ++i) weft::spawn([] { weft::yield(); }).join();
      EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }))
          << weft::num_goroutines();
    });
  }
}

// A resize that waited for its turn while the runtime ended says so.
TEST(restart_race, threads_that_go_on_resizing_get_an_answer_or_not_running) {
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&is_over, t] {
      for (unsigned i = t; !is_over; ++i) {
        try {
          const unsigned before = weft::max_procs(1 + i % 4);
          EXPECT_TRUE(before >= 1 && before <= 4) << before;
        } catch (const weft::not_running&) {
          std::this_thread::yield();
        }  // any other exception ends the test
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(150); ++i) {
    weft::test::run_on(1 + static_cast<unsigned>(i % 3), [] { weft::yield(); });
  }
  is_over = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(weft::max_procs(), 0u) << "no runtime, no Ps";
}

TEST(restart_race, a_thread_waits_in_one_runtime_and_is_woken_in_the_next) {
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    weft::event is_waiting;
    weft::event e;
    weft::wait_group wg;
    wg.add(1);
    std::thread t;
    weft::test::run_on(2, [&] {
      t = std::thread([&] {
        is_waiting.set();
        e.wait();
        wg.wait();
      });
      is_waiting.wait();  // about to wait, in the midst of it, or asleep
    });
    weft::test::run_on(2, [&] {
      weft::go([&] { e.set(); });
      weft::spawn([&] { wg.done(); }).join();
      weft::blocking([&] { t.join(); });
    });
  }
}

TEST(restart_race, a_handle_outlives_the_runtime_of_its_goroutine) {
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    std::optional<weft::join_handle<int>> of_ended;
    std::optional<weft::join_handle<int>> of_abandoned;
    static weft::event never;
    std::thread t;
    std::atomic<int> joined{0};
    weft::test::run_on(2, [&] {
      of_ended.emplace(weft::spawn([] { return 7; }));
      of_abandoned.emplace(weft::spawn([] {
        never.wait();
        return 8;
      }));
      weft::event ended;
      weft::go([&] { ended.set(); });
      ended.wait();
      EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 2; }));
      t = std::thread(
          [&] { joined = of_ended->join(); });  // in this runtime, in none, or in the next
    });
    weft::test::run_on(1, [&] {
      weft::blocking([&] { t.join(); });
      EXPECT_EQ(joined, 7);
      of_abandoned.reset();  // nobody joins what was abandoned
      EXPECT_EQ(weft::num_goroutines(), 1u);
    });
  }
}

}  // namespace
