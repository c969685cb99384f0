// life.cpp: the beginning and the end of runtimes and of the process around them.
#include <memory>
#include <stdexcept>
#include <vector>

#include "scenario.hpp"

using namespace scenario;

SCENARIO(run_returns_code) {
  std::exit(weft::run([] { return 7; }));
}

SCENARIO(go_outside_run) {
  REQUIRE(throws<weft::not_running>([] { weft::go([] {}); }));
  REQUIRE(throws<weft::not_running>([] { (void)weft::spawn([] {}); }));
  REQUIRE(throws<weft::not_running>([] { weft::go({.name = "x"}, [] {}); }));
  weft::run([] {});
  REQUIRE(throws<weft::not_running>([] { weft::go([] {}); }));
  try {
    weft::go([] {});
  } catch (const std::logic_error& e) {
    say("%s", e.what());
  }
}

SCENARIO(run_inside_run) {
  weft::run([] {
    REQUIRE(throws<std::logic_error>([] { weft::run([] {}); }));
    REQUIRE(throws<std::logic_error>([] { weft::runtime r; }));
    weft::spawn([] { REQUIRE(throws<std::logic_error>([] { weft::run([] {}); })); }).join();
  });
}

SCENARIO(run_in_two_threads) {
  weft::run([] {
    std::atomic<int> refused{0};
    std::thread other([&] { refused += throws<std::logic_error>([] { weft::run([] {}); }); });
    weft::blocking([&] { other.join(); });
    REQUIRE(refused == 1);
  });
  // All at once: any number may win, one after the other, and none may be harmed.
  std::atomic<int> won{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        try {
          weft::run([&] { ++won; });
        } catch (const std::logic_error&) {
          ++refused;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  REQUIRE(won + refused == 80);
  REQUIRE(won > 0);
}

SCENARIO(run_100_times) {
  for (int i = 0; i < 100; ++i) {
    const int code = weft::run([i] {
      weft::wait_group all;
      for (int j = 0; j < 20; ++j) all.go([] { weft::yield(); });
      all.wait();
      for (int j = 0; j < 5; ++j) weft::go([] { wait_for_ever(); });  // left behind
      weft::yield();
      return i;
    });
    REQUIRE(code == i);
  }
  require_soon([] { return count_threads() == 1; }, "all threads have left");
}

namespace {
[[gnu::noinline]] void spin_for_ever() {
  for (;;) asm volatile("" ::: "memory");
}
}  // namespace

SCENARIO(run_returns_while_others_compute) {
  const auto start = std::chrono::steady_clock::now();
  weft::run({.max_procs = 3}, [] {
    static std::atomic<int> computing{0};
    for (int i = 0; i < 2; ++i) {
      weft::go([] {
        ++computing;
        spin_for_ever();
      });
    }
    while (computing < 2) weft::yield();
  });
  REQUIRE(std::chrono::steady_clock::now() - start < 3s);
  REQUIRE(weft::run([] { return 3; }) == 3);
}

SCENARIO(run_returns_while_others_block) {
  weft::run([] {
    static std::atomic<int> blocked{0};
    for (int i = 0; i < 4; ++i) {
      weft::go([] {
        weft::blocking([] {
          ++blocked;
          ::usleep(30'000'000);
        });
      });
    }
    while (blocked < 4) weft::yield();
  });
}

// An abandoned goroutine gets no further than its next call into weft, and its thread ends there.
SCENARIO(abandoned_goroutine_never_returns) {
  static std::atomic<int> running{0}, returned{0};
  static std::atomic<bool> is_over{false};
  static weft::event occasion;
  // As many Ps as goroutines: one that is queued behind a goroutine that computes is then stolen by an idle P.
  weft::run({.max_procs = 6}, [] {
    const auto abandon = [](auto call) {
      weft::go([call] {
        const farewell none{"destroyed"};
        ++running;
        while (!is_over) continue;
        call();
        ++returned;
      });
    };
    abandon([] { weft::yield(); });
    abandon([] { occasion.wait(); });
    abandon([] { occasion.set(); });
    abandon([] { weft::blocking([] { say("blocking ran"); }); });
    weft::go([] {
      weft::blocking([] {
        ++running;
        while (!is_over) ::usleep(1000);
      });
      ++returned;
    });
    while (running < 5) weft::yield();
  });
  // The other threads have left; the kernel lists one a little longer.
  require_soon([] { return count_threads() == 6; }, "only those of abandoned goroutines stay");
  is_over = true;
  require_soon([] { return count_threads() == 1; }, "the threads of abandoned goroutines end");
  REQUIRE(returned == 0);
}

// The same for calls that throw when no runtime is active: they do for others, but this one has had its runtime.
namespace {
template <class F>
void abandon_and_call(F call) {
  static std::atomic<bool> is_running{false}, is_over{false}, has_returned{false};
  weft::run({.max_procs = 2}, [&] {
    weft::go([call] {
      is_running = true;
      while (!is_over) continue;
      call();
      has_returned = true;
    });
    while (!is_running) weft::yield();
  });
  is_over = true;
  require_soon([] { return count_threads() == 1; }, "the thread of the abandoned goroutine ends");
  REQUIRE(!has_returned);
}
}  // namespace

SCENARIO(abandoned_goroutine_starts_others) {
  abandon_and_call([] { weft::go([] {}); });
}
SCENARIO(abandoned_goroutine_resizes) {
  abandon_and_call([] { weft::max_procs(3); });
}

SCENARIO(abandoned_goroutine_meets_the_next_run) {
  static std::atomic<int> running{0}, returned{0};
  static std::atomic<bool> is_over{false};
  weft::run({.max_procs = 2}, [] {
    weft::go([] {
      ++running;
      while (!is_over) continue;
      weft::go([] { say("started from the grave"); });
      ++returned;
    });
    while (running < 1) weft::yield();
  });
  weft::run({.max_procs = 2}, [] {
    is_over = true;
    for (int i = 0; i < 1000; ++i) weft::yield();
    weft::wait_group all;
    for (int j = 0; j < 20; ++j) all.go([] { weft::yield(); });
    all.wait();
  });
  require_soon([] { return count_threads() == 1; }, "the thread of the abandoned goroutine ends");
  REQUIRE(returned == 0);
}

// Waiters of an earlier runtime on an object that outlives it are skipped, whatever wakes them.
SCENARIO(waiters_of_the_last_run_are_skipped) {
  static weft::event shared;
  weft::run([] {
    for (int i = 0; i < 10; ++i)
      weft::go([] {
        shared.wait();
        say("woken");
      });
    for (int i = 0; i < 100; ++i) weft::yield();
  });
  weft::run([] {
    auto mine = weft::spawn([] { shared.wait(); });
    for (int i = 0; i < 100; ++i) weft::yield();
    shared.set();
    mine.join();
  });
}

// --- exit ---

namespace {

// Uses weft in its destructor, when static objects die.
struct uses_weft_at_exit {
  bool is_armed = false;
  weft::event event;
  weft::wait_group group;
  ~uses_weft_at_exit() {
    if (!is_armed) return;
    event.set();
    event.wait();
    group.add(1);
    group.done();
    group.wait();
    weft::yield();
    weft::checkpoint();
    const bool is_active = weft::num_goroutines() != 0;
    bool is_refused = false;
    try {
      weft::go([] {});
    } catch (const weft::not_running&) {
      is_refused = true;
    }
    weft::blocking([] {});
    say("at exit: active=%d refused=%d", is_active, is_refused);
  }
};
uses_weft_at_exit at_exit;

void start_busy_goroutines() {
  static std::atomic<int> running{0};
  for (int i = 0; i < 8; ++i) {
    weft::go([] {
      ++running;
      for (;;) {
        weft::go([] { weft::yield(); });
        weft::blocking([] { ::usleep(100); });
        weft::yield();
      }
    });
  }
  while (running < 8) weft::yield();
}

}  // namespace

SCENARIO(exit_after_run_with_static_user) {
  at_exit.is_armed = true;
  weft::run([] {});
}

SCENARIO(exit_after_run_that_left_goroutines) {
  at_exit.is_armed = true;
  weft::run({.max_procs = 4}, [] { start_busy_goroutines(); });
}

SCENARIO(exit_in_main_goroutine) {
  at_exit.is_armed = true;
  weft::run({.max_procs = 4}, [] {
    start_busy_goroutines();
    std::exit(7);
  });
}

SCENARIO(exit_in_goroutine) {
  at_exit.is_armed = true;
  weft::run({.max_procs = 4}, [] {
    start_busy_goroutines();
    weft::go([] { std::exit(7); });
    wait_for_ever();
  });
}

SCENARIO(exit_in_goroutine_on_one_p) {
  at_exit.is_armed = true;
  weft::run({.max_procs = 1}, [] {
    weft::go([] { std::exit(7); });
    wait_for_ever();
  });
}

SCENARIO(exit_on_foreign_thread) {
  at_exit.is_armed = true;
  weft::run({.max_procs = 4}, [] {
    start_busy_goroutines();
    std::thread([] { std::exit(7); }).detach();
    wait_for_ever();
  });
}

SCENARIO(exit_inside_blocking) {
  weft::run([] { weft::blocking([] { std::exit(7); }); });
}

SCENARIO(exit_with_a_static_runtime) {
  static std::unique_ptr<weft::runtime> active;  // ended by a static destructor
  active = std::make_unique<weft::runtime>();
  weft::spawn([] { weft::yield(); }).join();
  std::exit(7);
}

SCENARIO(exit_in_goroutine_with_a_static_runtime) {
  static std::unique_ptr<weft::runtime> active;
  active = std::make_unique<weft::runtime>(weft::options{.max_procs = 2});
  weft::go([] { std::exit(7); });
  ::usleep(8'000'000);
}

SCENARIO(quick_exit_in_goroutine) {
  weft::run([] {
    start_busy_goroutines();
    std::_Exit(7);
  });
}

// The thread's proxy goes with it; thread_local destructors before and after it may call in.
SCENARIO(foreign_threads_come_and_go) {
  static std::atomic<int> ids{0};
  struct calls_at_end {
    ~calls_at_end() {
      weft::event e;
      e.set();
      e.wait();
      ids += weft::this_goroutine::id() != 0;
    }
  };
  weft::run([] {
    for (int i = 0; i < 50; ++i) {
      weft::event answer;
      std::thread caller([&] {
        static thread_local calls_at_end before;
        (void)&before;
        weft::this_goroutine::id();
        static thread_local calls_at_end after;
        (void)&after;
        weft::go([&] { answer.set(); });
        answer.wait();
      });
      weft::blocking([&] { caller.join(); });
    }
    REQUIRE(ids == 100);  // each has an id also after its proxy was given back
  });
}
