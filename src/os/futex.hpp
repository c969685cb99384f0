// futex.hpp: sleeping on a word of memory, and for a short while.
//
// wait() returns when the word no longer holds `expected`, when it was woken, or for no reason at all: callers loop.
// Deadlines are absolute, so a spurious wake-up or a signal never restarts the whole wait.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/atomics.hpp"
#include "os/restartable.hpp"

namespace weft::os {

inline constexpr std::int64_t kNoDeadline = -1;

// Sleeps while word == expected. False: the deadline (CLOCK_MONOTONIC, in nanoseconds) has passed.
bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t deadline_ns = kNoDeadline) noexcept;

// Wakes up to `count` of those who sleep on the word. The word may be gone already: a wake-up is only a hint.
void futex_wake(const std::atomic<std::uint32_t>& word, int count) noexcept;

// Sleeps about that long; less when a signal comes.
void nap(std::int64_t ns) noexcept;

// The policy with which the library instantiates its protocols.
struct futex_atomics : base::std_atomics {
  static bool wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                   std::int64_t deadline_ns = kNoDeadline) noexcept {
    return futex_wait(word, expected, deadline_ns);
  }
  static void wake(const std::atomic<std::uint32_t>& word, int count) noexcept {
    futex_wake(word, count);
  }
  static void nap(std::int64_t ns) noexcept { os::nap(ns); }
  static bool replace_alone(std::atomic<std::uint32_t>& word, std::uint32_t before,
                            std::uint32_t after) noexcept {
    return os::replace_alone(word, before, after);
  }
  static void restart_others() noexcept { os::restart_others(); }
};

}  // namespace weft::os
