// lock.hpp: the mutex of the runtime itself. Users' code never runs under it, and nothing that may block does. (One exception: a mutex that
// was calm for thousands of turns is disturbed under its queue's lock, by a membarrier of some ten microseconds: sync/mutex_core.hpp.)
//
// Not fair, not recursive. A holder is expected to be gone within a microsecond, so whoever finds it held spins, and looks less
// and less often: a line that is asked for all the time is slow for its holder too. When that took some ten microseconds the holder has
// most likely lost its CPU, and the waiter sleeps by the clock, not until it is woken: so unlock() is one plain store
// (docs/adr/0009-nobody-is-woken-for-a-lock.md).
//
// Its rank says what may be held while it is taken (lock_rank.hpp).
//
// Edges
//   [lock]  unlock: store release  ->  lock: CAS acquire
#pragma once

#include <algorithm>
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
    state_.store(kFree, std::memory_order_release);  // [lock]
  }

  // For assertions only: somebody holds it. Relaxed: whoever asks whether he holds it himself wrote it.
  bool is_held() const noexcept { return state_.load(std::memory_order_relaxed) != kFree; }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr int kMostPauses = 256;
  static constexpr std::int64_t kFirstNapNs = 20'000;
  static constexpr std::int64_t kLongestNapNs = 1'000'000;

  bool try_take() noexcept {
    std::uint32_t seen = kFree;
    return state_.compare_exchange_strong(
        seen, kHeld, std::memory_order_acquire,
        std::memory_order_relaxed);  // [lock]; failed: nothing read
  }

  [[gnu::noinline]] void lock_slow() noexcept {
    for (std::int64_t nap_ns = kFirstNapNs;; nap_ns = std::min(nap_ns * 2, kLongestNapNs)) {
      if (take_spinning()) return;
      A::nap(nap_ns);
    }
  }

  bool take_spinning() noexcept {
    for (int npauses = 1; npauses <= kMostPauses; npauses *= 2) {
      for (int i = 0; i < npauses; ++i) A::pause();
      if (state_.load(std::memory_order_relaxed) == kFree && try_take())
        return true;  // only a hint
    }
    return false;
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
