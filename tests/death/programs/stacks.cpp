// stacks.cpp: stacks that are not large enough, faults that are something else, and signals.
#include <cstring>

#include "scenario.hpp"

using namespace scenario;

// Without ThreadSanitizer's calls: the overflow would be met inside its runtime, now and then with a lock of its in hand, and its signal
// handler would wait for that lock for ever.
#if defined(__clang__)
#define WEFT_UNINSTRUMENTED [[clang::disable_sanitizer_instrumentation]]
#else
#define WEFT_UNINSTRUMENTED
#endif

// Named in backtraces. Each level takes some 200 bytes; the compiler may neither unroll it nor make it a loop.
WEFT_UNINSTRUMENTED [[gnu::noinline]] int recurse_for_ever(volatile int* depth) {
  volatile char frame[128];
  *depth = *depth + 1;
  frame[0] = static_cast<char>(*depth);
  if (*depth < 0) return 0;  // never, but who knows that
  const int below = recurse_for_ever(depth);
  return below + frame[0];
}

namespace {

void overflow() {
  volatile int depth = 0;
  ::_exit(recurse_for_ever(&depth) != 0 ? kNotMet : kNotMet + 1);
}

void overflow_in_a_goroutine(weft::options opts, std::size_t stack_size = 0) {
  weft::run(opts, [stack_size] {
    auto ended = weft::spawn({.name = "deep", .stack_size = stack_size}, [] { overflow(); });
    ended.join();
  });
}

// One frame, of which only the far end is touched: a compiler that does not probe would write beyond the guard.
template <std::size_t Bytes>
[[gnu::noinline]] void take_large_frame() {
  volatile char frame[Bytes];
  asm volatile("" ::"r"(frame)
               : "memory");  // somebody knows its address: it cannot be made smaller
  frame[0] = 1;
  ::_exit(kNotMet + frame[0]);
}

template <std::size_t Bytes>
void overflow_by_one_frame() {
  weft::run({.stack_size = 16 * 1024}, [] {
    auto neighbours = weft::spawn([] { weft::blocking([] { ::usleep(8'000'000); }); });
    weft::go({.name = "deep"}, [] { take_large_frame<Bytes>(); });
    neighbours.join();
  });
}

// What a sanitizer would say about it is not the question here.
[[gnu::noinline]] __attribute__((no_sanitize("undefined"))) void touch_null() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

void fault_in_a_goroutine() {
  weft::run([] {
    auto ended = weft::spawn({.name = "culprit"}, [] { touch_null(); });
    ended.join();
  });
}

void say_last_words() {
  weft::on_fatal(
      [](std::string_view m) { say("hook: %.*s", static_cast<int>(m.size()), m.data()); });
}

void tell_signal(const char* text) {
  if (::write(1, text, std::strlen(text)) < 0) ::_exit(kNotMet);
}

}  // namespace

SCENARIO(overflow_default) { overflow_in_a_goroutine({}); }
SCENARIO(overflow_small) { overflow_in_a_goroutine({.stack_size = 16 * 1024}); }
SCENARIO(overflow_large) { overflow_in_a_goroutine({}, 8 << 20); }
SCENARIO(overflow_large_by_options) { overflow_in_a_goroutine({.stack_size = 2 << 20}); }
SCENARIO(overflow_main) {
  weft::run({.main_stack_size = 256 * 1024}, [] { overflow(); });
}
SCENARIO(overflow_main_default) {
  weft::run([] { overflow(); });
}
SCENARIO(overflow_locked_main) {
  weft::run({.lock_main = true}, [] { overflow(); });
}
SCENARIO(overflow_inside_blocking) {
  weft::run([] {
    auto ended = weft::spawn({.name = "deep"}, [] { weft::blocking([] { overflow(); }); });
    ended.join();
  });
}
SCENARIO(overflow_two_at_once) {
  weft::run({.max_procs = 2}, [] {
    static std::atomic<int> ready{0};
    for (int i = 0; i < 2; ++i) {
      weft::go({.name = "deep"}, [] {
        ++ready;
        while (ready < 2) continue;
        overflow();
      });
    }
    weft::blocking([] { ::usleep(8'000'000); });
  });
}
SCENARIO(overflow_hook) {
  say_last_words();
  overflow_in_a_goroutine({});
}
SCENARIO(overflow_with_a_handler_of_the_users) {
  ::signal(SIGSEGV, [](int) {
    tell_signal("user's handler\n");
    ::_exit(42);
  });
  overflow_in_a_goroutine({});
}

SCENARIO(large_frame_70k) { overflow_by_one_frame<70 * 1024>(); }
SCENARIO(large_frame_256k) { overflow_by_one_frame<256 * 1024>(); }
SCENARIO(large_frame_1m) { overflow_by_one_frame<1024 * 1024>(); }

// What the report claims must be true also for the second runtime of a process.
SCENARIO(stack_size_of_the_second_run) {
  weft::run({.stack_size = 16 * 1024}, [] {});
  weft::run({.stack_size = 4 << 20}, [] {
    auto ended = weft::spawn([] {
      volatile char frame[2 << 20];
      for (std::size_t i = 0; i < sizeof frame; i += 4096) frame[i] = 1;
    });
    ended.join();
  });
}

SCENARIO(stack_size_of_an_earlier_run) {
  weft::run({.stack_size = 16 * 1024}, [] {});
  weft::run([] {
    auto ended = weft::spawn([] {
      volatile char frame[128 * 1024];
      for (std::size_t i = 0; i < sizeof frame; i += 4096) frame[i] = 1;
    });
    ended.join();
  });
}

SCENARIO(stack_size_zero_is_the_default) {
  weft::run([] {
    auto ended = weft::spawn({.stack_size = 0}, [] {
      volatile char frame[128 * 1024];
      for (std::size_t i = 0; i < sizeof frame; i += 4096) frame[i] = 1;
    });
    ended.join();
  });
}

SCENARIO(stack_size_one_is_rounded_up) {
  weft::run({.stack_size = 1, .main_stack_size = 1}, [] {
    auto ended = weft::spawn({.stack_size = 1}, [] {
      volatile char frame[8 * 1024];
      for (std::size_t i = 0; i < sizeof frame; i += 1024) frame[i] = 1;
      say("%s", weft::this_goroutine::name().c_str());
    });
    ended.join();
  });
}

SCENARIO(guard_mode) {
  weft::run([] { say("%s", weft::stats().stack_guard); });
}

// --- faults that are no overflow ---

SCENARIO(fault_null) { fault_in_a_goroutine(); }

SCENARIO(fault_hook) {
  say_last_words();
  fault_in_a_goroutine();
}

SCENARIO(fault_hook_that_faults) {
  weft::on_fatal([](std::string_view) { touch_null(); });
  fault_in_a_goroutine();
}

SCENARIO(fault_two_at_once) {
  weft::run({.max_procs = 2}, [] {
    static std::atomic<int> ready{0};
    for (int i = 0; i < 2; ++i) {
      weft::go({.name = "culprit"}, [] {
        ++ready;
        while (ready < 2) continue;
        touch_null();
      });
    }
    weft::blocking([] { ::usleep(8'000'000); });
  });
}

SCENARIO(fault_jump_to_nowhere) {
  weft::run([] {
    weft::go({.name = "culprit"}, [] {
      using function = void (*)();
      volatile std::uintptr_t nowhere = 0x1000;
      reinterpret_cast<function>(std::uintptr_t{nowhere})();
    });
    wait_for_ever();
  });
}

SCENARIO(fault_on_a_plain_thread) {
  weft::run([] {
    std::thread(touch_null).detach();
    wait_for_ever();
  });
}

SCENARIO(fault_null_in_main) {
  weft::run([] { touch_null(); });
}

// Somewhere in nobody's memory: not near any stack of weft's.
SCENARIO(fault_wild) {
  weft::run([] {
    weft::go([] { *reinterpret_cast<volatile int*>(std::uintptr_t{0x1000}) = 1; });
    wait_for_ever();
  });
}

// A stray pointer into the guard of somebody else's stack is not an overflow of the goroutine that follows it.
SCENARIO(fault_in_the_guard_of_another) {
  weft::run({.max_procs = 1, .stack_size = 16 * 1024}, [] {
    static std::atomic<volatile char*> other{nullptr};
    weft::go({.name = "innocent"}, [] {
      volatile char here = 0;
      other = &here;
      wait_for_ever();
    });
    while (other == nullptr) weft::yield();
    weft::go({.name = "culprit"}, [] {
      const auto slot =
          reinterpret_cast<std::uintptr_t>(other.load()) & ~std::uintptr_t{128 * 1024 - 1};
      *reinterpret_cast<volatile char*>(slot + 4096) = 1;
    });
    wait_for_ever();
  });
}

SCENARIO(fault_overflow_of_a_foreign_thread) {
  weft::run([] {
    std::thread([] { overflow(); }).detach();
    wait_for_ever();
  });
}

SCENARIO(fault_with_siginfo_handler) {
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = [](int number, siginfo_t* info, void* context) {
    if (number != SIGSEGV || info->si_addr != nullptr || context == nullptr) ::_exit(kNotMet);
    tell_signal("user's handler\n");
    ::_exit(42);
  };
  ::sigaction(SIGSEGV, &action, nullptr);
  fault_in_a_goroutine();
}

SCENARIO(fault_with_plain_handler) {
  ::signal(SIGSEGV, [](int number) {
    tell_signal("user's handler\n");
    ::_exit(number == SIGSEGV ? 42 : kNotMet);
  });
  fault_in_a_goroutine();
}

// --- signals ---

SCENARIO(signal_abort) {
  weft::run([] {
    weft::go([] { std::abort(); });
    wait_for_ever();
  });
}

namespace {
void kill_self(int number) {
  weft::run([number] {
    weft::go([number] { ::kill(::getpid(), number); });
    weft::blocking([] { ::usleep(8'000'000); });
  });
}
}  // namespace

SCENARIO(signal_term) { kill_self(SIGTERM); }
SCENARIO(signal_segv_sent) { kill_self(SIGSEGV); }
SCENARIO(signal_term_sent_to_an_idle_program) {
  weft::run([] {
    std::thread([] {
      ::usleep(200'000);
      ::kill(::getpid(), SIGTERM);
      ::usleep(8'000'000);
    }).detach();
    wait_for_ever();
  });
}
