// for_procs.hpp: tests whose body is the main goroutine of a runtime.
//
//   TEST_FOR_PROCS(event, wait_returns_after_set) { ... }     three cases: ..._on_1_p, ..._on_2_ps, ..._on_4_ps
//   TEST(event, wait_returns_with_a_small_stack) {
//     weft::test::run_with({.max_procs = 1, .stack_size = 16 << 10}, [] { ... });
//   }
//
// A failed EXPECT counts wherever it stands, in any goroutine and on any thread; a failed ASSERT returns from its own
// function only; an exception that leaves the body fails the case. SCOPED_TRACE is kept per thread by GoogleTest, so it
// must not span anything that may switch.
//
// No test sleeps in order to be in time. One that must wait for something it cannot be woken by says eventually(), whose
// limit is there to end a hang and not to measure anything.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string_view>
#include <utility>

#include <weft/go.hpp>
#include <weft/runtime.hpp>

#include "os/environment.hpp"

namespace weft::test {

// Runs body as the main goroutine of a runtime with these options.
template <class F>
void run_with(const options& opts, F&& body) {
  weft::run(opts, std::forward<F>(body));
}

template <class F>
void run_on(unsigned nprocs, F&& body) {
  run_with({.max_procs = nprocs}, std::forward<F>(body));
}

inline int thread_id() { return ::gettid(); }

// What WEFT_DEBUG says of this runtime and the next ones.
inline os::debug_settings debug_settings() {
  return os::read_environment(1, [](std::string_view) {}).debug;
}

// WEFT_DEBUG=migrate=1: every goroutine resumes on another thread. Tests of which thread, or which queue, a goroutine is in do
// not hold there.
inline bool is_migrating() { return debug_settings().migrate; }

// WEFT_DEBUG=chaos=...: others may run at any call, and in any order. Tests of who runs when do not hold there.
inline bool is_unkind() { return is_migrating() || debug_settings().chaos != 0; }

// Yields until condition() holds. False: it did not within half a minute.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    weft::yield();
  }
  return true;
}

// For tests that choose at random. Printed, so that a failure can be repeated: WEFT_TEST_SEED=n.
inline std::uint64_t seed() {
  const char* const given = std::getenv("WEFT_TEST_SEED");
  const std::uint64_t value =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("[   SEED   ] WEFT_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_TEST_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WEFT_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_TEST_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WEFT_TEST_TSAN 1
#endif
#endif
#if defined(WEFT_TEST_ASAN)
inline constexpr bool kIsAsan = true;
#else
inline constexpr bool kIsAsan = false;
#endif
#if defined(WEFT_TEST_TSAN)
inline constexpr bool kIsTsan = true;
#else
inline constexpr bool kIsTsan = false;
#endif

// Adds the case suite.name_on_<n>_ps, which is run(n), for each n. Returns how many these are.
int add_cases(const char* suite, const char* name, std::initializer_list<unsigned> nprocs,
              void (*run)(unsigned nprocs), const char* file, int line);

// How often to repeat: less where every step is some ten times slower.
inline constexpr int scaled(int n) {
#if defined(WEFT_TEST_TSAN) || defined(WEFT_TEST_ASAN)
  return n / 10 > 0 ? n / 10 : 1;
#else
  return n;
#endif
}

// How often, where Go's own test says so: as often; or `elsewhere`, with a sanitizer, an emulator or a scheduler that is unkind.
int as_often_as_go(int n, int elsewhere);

}  // namespace weft::test

#define TEST_FOR_PROCS(suite, name)                                     \
  static void weft_body_of_##suite##_##name();                          \
  static void weft_run_##suite##_##name(unsigned nprocs) {              \
    weft::test::run_on(nprocs, weft_body_of_##suite##_##name);          \
  }                                                                     \
  WEFT_CASES_FOR_PROCS(suite, name, weft_run_##suite##_##name, 1, 2, 4) \
  static void weft_body_of_##suite##_##name()

// The cases suite.name_on_1_p and so on, which call run(nprocs), for each number that follows. TEST() would make a class and a factory of each:
// longer to compile than many a body.
#define WEFT_CASES_FOR_PROCS(suite, name, run, ...)                           \
  [[maybe_unused]] static const int weft_ncases_of_##suite##_##name##_##run = \
      weft::test::add_cases(#suite, #name, {__VA_ARGS__}, run, __FILE__, __LINE__);
