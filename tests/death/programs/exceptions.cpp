// exceptions.cpp: exceptions that nobody catches, and exit_goroutine() on stacks that do not let it pass.
#include <pthread.h>

#include <exception>
#include <stdexcept>
#include <string>

#include "scenario.hpp"

using namespace scenario;

// Outside any unnamed namespace and never inlined: the test looks for its name in the backtrace.
[[gnu::noinline]] void function_that_throws(const char* what) {
  asm volatile("");
  throw std::runtime_error(what);
}

[[gnu::noinline]] void function_that_calls_it(const char* what) {
  function_that_throws(what);
  asm volatile("");
}

namespace {

// Starts f and waits for the end that it brings. That this returns is a failure, by exit code 0.
template <class F>
void run_doomed(F f, weft::options opts = {}) {
  weft::run(opts, [&] {
    auto ended =
        weft::spawn({.name = "waiter"}, [] { weft::blocking([] { ::usleep(8'000'000); }); });
    weft::go({.name = "culprit"}, f);
    ended.join();
  });
}

struct odd_exception : std::exception {};

struct what_yields : odd_exception {
  const char* what() const noexcept override {
    for (int i = 0; i < 10; ++i) weft::yield();
    return "said after yields";
  }
};
struct what_blocks : odd_exception {
  const char* what() const noexcept override {
    weft::blocking([] { ::usleep(100'000); });
    return "said after a sleep";
  }
};
struct what_waits : odd_exception {
  const char* what() const noexcept override {
    wait_for_ever();
    return "never said";
  }
};
struct what_is_null : odd_exception {
  const char* what() const noexcept override { return nullptr; }
};

}  // namespace

SCENARIO(throw_named) {
  run_doomed([] { function_that_calls_it("the reason"); });
}

SCENARIO(throw_unnamed) {
  weft::run([] {
    say("line=%d", __LINE__ + 1);
    weft::go([] { function_that_throws("from nobody"); });
    wait_for_ever();
  });
}

SCENARIO(throw_int) {
  run_doomed([] { throw 42; });
}

SCENARIO(throw_after_migration) {
  run_doomed([] {
    for (int i = 0; i < 100; ++i) weft::yield();
    weft::blocking([] { ::usleep(30'000); });
    function_that_throws("after a journey");
  });
}

SCENARIO(throw_on_a_locked_thread) {
  run_doomed([] {
    weft::lock_os_thread();
    function_that_throws("tied");
  });
}

SCENARIO(throw_in_handler) {
  run_doomed([] {
    try {
      function_that_throws("the first");
    } catch (const std::exception&) {
      weft::yield();
      throw std::logic_error("the second");
    }
  });
}

SCENARIO(throw_again) {
  run_doomed([] {
    try {
      function_that_throws("the first and only");
    } catch (...) {
      weft::yield();
      throw;
    }
  });
}

namespace {
void tell_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    say("handler: nothing thrown");
  } catch (const std::exception& e) {
    say("handler: %s", e.what());
  }
  ::_exit(7);
}
}  // namespace

SCENARIO(throw_with_a_terminate_handler_from_before) {
  std::set_terminate(&tell_exception);
  run_doomed([] { function_that_throws("seen by the handler"); });
}

SCENARIO(throw_with_a_terminate_handler_from_inside) {
  run_doomed([] {
    std::set_terminate(&tell_exception);
    function_that_throws("seen by the handler");
  });
}

SCENARIO(throw_with_a_terminate_handler_that_returns) {
  std::set_terminate([] { say("handler returns"); });
  run_doomed([] { function_that_throws("the reason"); });
}

SCENARIO(throw_what_throws) {
  // what() is noexcept, so this ends in std::terminate while the report is being written.
  struct what_throws : odd_exception {
    const char* what() const noexcept override {
      function_that_throws("from what()");
      return "";
    }
  };
  run_doomed([] { throw what_throws(); });
}

SCENARIO(throw_what_yields) {
  run_doomed([] { throw what_yields(); }, {.max_procs = 1});
}

// While the first report waits for its what(), the only P goes to a goroutine that fails as well.
SCENARIO(throw_what_yields_to_another_that_throws) {
  run_doomed(
      [] {
        weft::go({.name = "second"}, [] { throw what_yields(); });
        throw what_yields();
      },
      {.max_procs = 1});
}

SCENARIO(throw_what_blocks) {
  run_doomed([] { throw what_blocks(); });
}

SCENARIO(throw_what_blocks_while_all_sleep) {
  weft::run([] {
    weft::go({.name = "culprit"}, [] { throw what_blocks(); });
    wait_for_ever();
  });
}

SCENARIO(throw_what_waits_for_ever) {
  weft::run([] {
    weft::go({.name = "culprit"}, [] { throw what_waits(); });
    wait_for_ever();
  });
}

SCENARIO(throw_what_is_null) {
  std::set_terminate([] { std::abort(); });  // the default one would print the null
  run_doomed([] { throw what_is_null(); });
}

SCENARIO(throw_what_is_long) {
  run_doomed([] { throw std::runtime_error(std::string(5000, 'w') + " the end"); });
}

SCENARIO(throw_two_at_once) {
  weft::run({.max_procs = 2}, [] {
    static std::atomic<int> ready{0};
    for (int i = 0; i < 2; ++i) {
      weft::go({.name = i == 0 ? "left" : "right"}, [] {
        ++ready;
        while (ready < 2) continue;
        function_that_throws("both at once");
      });
    }
    weft::blocking([] { ::usleep(8'000'000); });
  });
}

SCENARIO(throw_through_noexcept) {
  run_doomed([]() noexcept { function_that_throws("not allowed out"); });
}

SCENARIO(throw_near_the_end_of_the_stack) {
  struct deep {
    // About 10 KB are left when it throws: what the report needs must fit, or name an overflow, but not hang.
    [[gnu::noinline]] static void go_down(const char* end) {
      volatile char block[512];
      block[0] = 1;
      if (const_cast<const char*>(block) > end) go_down(end);
      if (const_cast<const char*>(block) <= end) throw std::runtime_error("deep down");
      block[1] = 2;
    }
  };
  run_doomed([] {
    const char here = 0;
    deep::go_down(
        reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(&here) - 180 * 1024));
  });
}

// --- exit_goroutine ---

SCENARIO(exit_runs_destructors) {
  weft::run([] {
    auto ended = weft::spawn([] {
      const farewell outer{"outer"};
      const farewell inner{"inner"};
      weft::exit_goroutine();
    });
    REQUIRE(throws<weft::goroutine_exited>([&] { ended.join(); }));
  });
}

SCENARIO(exit_with_catch_all_that_rethrows) {
  weft::run([] {
    auto ended = weft::spawn([] {
      try {
        const farewell inner{"inner"};
        weft::exit_goroutine();
      } catch (...) {
        say("caught");
        throw;
      }
    });
    REQUIRE(throws<weft::goroutine_exited>([&] { ended.join(); }));
  });
}

SCENARIO(exit_with_catch_all) {
  run_doomed([] {
    try {
      weft::exit_goroutine();
    } catch (...) {
      say("caught");
    }
    say("went on");
  });
}

SCENARIO(exit_through_noexcept) {
  run_doomed([]() noexcept { weft::exit_goroutine(); });
}

SCENARIO(exit_with_a_destructor_that_throws) {
  run_doomed([] {
    struct bad {
      ~bad() noexcept(false) { throw std::runtime_error("from the destructor"); }
    } local;
    weft::exit_goroutine();
  });
}

SCENARIO(exit_in_catch) {
  weft::run([] {
    auto ended = weft::spawn([] {
      try {
        function_that_throws("caught");
      } catch (const std::exception&) {
        const farewell inner{"inner"};
        weft::exit_goroutine();
      }
    });
    REQUIRE(throws<weft::goroutine_exited>([&] { ended.join(); }));
    REQUIRE(std::uncaught_exceptions() == 0);
    REQUIRE(!std::current_exception());
  });
}

SCENARIO(exit_while_an_exception_unwinds) {
  run_doomed([] {
    // Volatile: a destructor that surely never returns makes the handler unreachable, and compilers then leave it out.
    static volatile bool is_quitting = true;
    struct quits {
      ~quits() noexcept(false) {
        if (is_quitting) weft::exit_goroutine();
      }
    };
    try {
      const quits local;
      function_that_throws("in flight");
    } catch (const std::exception&) {
      say("went on");
    }
  });
}

SCENARIO(exit_outside) {
  REQUIRE(throws<std::logic_error>([] { weft::exit_goroutine(); }));
}

// --- pthread_exit and pthread_cancel, which end the thread and not the goroutine ---

SCENARIO(pthread_exit_in_a_goroutine) {
  run_doomed([] {
    const farewell outer{"outer"};
    ::pthread_exit(nullptr);
  });
}

SCENARIO(pthread_exit_in_a_spawned_goroutine) {
  weft::run([] {
    auto ended = weft::spawn({.name = "culprit"}, [] {
      const farewell outer{"outer"};
      ::pthread_exit(nullptr);
    });
    REQUIRE(throws<weft::goroutine_exited>([&] { ended.join(); }));  // if it comes to that
    weft::blocking([] { ::usleep(8'000'000); });
  });
}

SCENARIO(pthread_exit_in_main) {
  weft::run([] {
    weft::this_goroutine::set_name("culprit");
    const farewell outer{"outer"};
    ::pthread_exit(nullptr);
  });
}

SCENARIO(pthread_cancel_of_a_goroutine) {
  run_doomed([] {
    const farewell outer{"outer"};
    ::pthread_cancel(::pthread_self());
    ::pthread_testcancel();
  });
}

// --- main ---

SCENARIO(throw_out_of_main) {
  struct special : std::runtime_error {
    using runtime_error::runtime_error;
    int number = 0;
  };
  const void* thrown_at = nullptr;
  try {
    weft::run([&] {
      try {
        special s("mine");
        s.number = 77;
        throw s;
      } catch (special& s) {
        thrown_at = &s;
        throw;
      }
    });
  } catch (const special& s) {
    REQUIRE(&s == thrown_at);
    REQUIRE(s.number == 77);
    REQUIRE(std::string_view(s.what()) == "mine");
    say("same object");
  }
  REQUIRE(std::uncaught_exceptions() == 0);
  REQUIRE(weft::run([] { return 5; }) == 5);
}

SCENARIO(throw_out_of_locked_main) {
  REQUIRE(throws<int>([] { weft::run({.lock_main = true}, [] { throw 3; }); }));
  REQUIRE(weft::run([] { return 5; }) == 5);
}
