// lock.hpp: the mutex of the runtime itself. Users' code never runs under it, and nothing that may block does.
//
// Not fair, not recursive. A holder is expected to be gone within a microsecond, so the waiter spins a little before it
// sleeps. It spins in vain when the holder has lost its CPU; the futex ends that.
//
// Its rank says what may be held while it is taken (lock_rank.hpp).
//
// States: 0 free, 1 held, 2 held and somebody may sleep. Whoever slept takes it as 2, so that the next unlock wakes again.
//
// Edges
//   [lock]  unlock: exchange release  ->  lock: CAS/exchange acquire
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "os/futex.hpp"
#include "os/lock_rank.hpp"

namespace weft::os {

template <class A, lock_rank Rank>
class basic_lock {
 public:
  constexpr basic_lock() noexcept = default;
  basic_lock(const basic_lock&) = delete;
  basic_lock& operator=(const basic_lock&) = delete;

  bool try_lock() noexcept {
    if (!try_take()) return false;
    if constexpr (kWeftDebugChecks) count_lock(Rank, this);
    return true;
  }

  void lock() noexcept {
    if constexpr (kWeftDebugChecks) check_lock_order(Rank, this);
    if (!try_take()) lock_slow();
    if constexpr (kWeftDebugChecks) count_lock(Rank, this);
  }

  void unlock() noexcept {
    if constexpr (kWeftDebugChecks) uncount_lock(Rank);
    if (state_.exchange(kFree, std::memory_order_release) == kContended)
      A::wake(state_, 1);  // [lock]
  }

  // For assertions only: somebody holds it. Relaxed: whoever asks whether he holds it himself wrote it.
  bool is_held() const noexcept { return state_.load(std::memory_order_relaxed) != kFree; }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kContended = 2;
  static constexpr int kSpins = 60;

  bool try_take() noexcept {
    std::uint32_t seen = kFree;
    return state_.compare_exchange_strong(
        seen, kHeld, std::memory_order_acquire,
        std::memory_order_relaxed);  // [lock]; failed: nothing read
  }

  [[gnu::noinline]] void lock_slow() noexcept {
    for (int i = 0; i < kSpins; ++i) {
      A::pause();
      if (state_.load(std::memory_order_relaxed) == kFree && try_take()) return;  // only a hint
    }
    while (state_.exchange(kContended, std::memory_order_acquire) != kFree)
      A::wait(state_, kContended);  // [lock]
  }

  typename A::template atomic<std::uint32_t> state_{kFree};
};

template <lock_rank Rank>
using lock = basic_lock<futex_atomics, Rank>;

// Holds a lock for a scope. (std::lock_guard would do; <mutex> brings in far more.)
template <class Lock>
class lock_guard {
 public:
  explicit lock_guard(Lock& l) noexcept : lock_(l) { lock_.lock(); }
  ~lock_guard() { lock_.unlock(); }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace weft::os
