// semaphore.hpp: so much of something, and who wants more waits.
//
//   weft::semaphore memory(64);           // 64 MB may be in use at once
//   memory.acquire(job.megabytes);
//   run(job);
//   memory.release(job.megabytes);
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <weft/clock.hpp>
#include <weft/detail/config.hpp>
#include <weft/detail/waiters.hpp>

namespace weft::inline v1 {

class context;

// Weighted, as golang.org/x/sync/semaphore. Who waits is served first come first: a large request is not passed by small ones, so it
// cannot starve; and nobody new gets anything while somebody waits.
// More than there is in all can never be had: acquire() of it throws, the others say no at once. Giving back more than was taken is a
// fatal error.
// Memory ordering: what was done before release() is visible after the acquire() that it lets through.
// It may be destroyed by whoever got the last of it, also while the release() before is still returning.
class WEFT_API semaphore {
 public:
  // How much there is. Throws std::invalid_argument if n is negative or above max().
  explicit semaphore(std::int64_t n);
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  static constexpr std::int64_t max() noexcept { return detail::kLastNs / 4; }

  // Takes n, when there is so much and it is our turn. Nothing: at once.
  // Throws std::invalid_argument if n is negative or more than there is in all.
  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void acquire(std::int64_t n = 1) {
    check(n);
    if (!take(n)) [[unlikely]]
      acquire_slow(n, detail::kLastNs);
  }

  // Never waits. False: there is not so much, or somebody waits.
  [[nodiscard]] bool try_acquire(std::int64_t n = 1) {
    return n <= capacity_ && (check(n), take(n));
  }

  // False: it was not our turn in that time, and nothing was taken. A time that has passed: lets others run once, and tries.
  template <class Rep, class Period>
  [[nodiscard]] WEFT_MAY_SWITCH bool try_acquire_for(std::int64_t n,
                                                     const std::chrono::duration<Rep, Period>& d) {
    if (n > capacity_) return false;
    check(n);
    return take(n) || acquire_slow(n, detail::deadline_in(detail::to_ns(d)));
  }
  template <class Rep, class Period>
  [[nodiscard]] WEFT_MAY_SWITCH bool try_acquire_for(const std::chrono::duration<Rep, Period>& d) {
    return try_acquire_for(1, d);
  }
  template <class Clock, class Duration>
  [[nodiscard]] WEFT_MAY_SWITCH bool try_acquire_until(
      std::int64_t n, const std::chrono::time_point<Clock, Duration>& when) {
    if (n > capacity_) return false;
    check(n);
    return take(n) || detail::wait_until_on(when, [this, n](std::int64_t deadline_ns) {
             return acquire_slow(n, deadline_ns);
           });
  }
  template <class Clock, class Duration>
  [[nodiscard]] WEFT_MAY_SWITCH bool try_acquire_until(
      const std::chrono::time_point<Clock, Duration>& when) {
    return try_acquire_until(1, when);
  }

  // Waits no longer than the context lasts (<weft/context.hpp>). False: it has ended, and nothing was taken. One that has ended gets
  // nothing. Throws std::invalid_argument as acquire().
  [[nodiscard]] WEFT_MAY_SWITCH bool acquire(std::int64_t n, const context& ctx);
  [[nodiscard]] WEFT_MAY_SWITCH bool acquire(const context& ctx) { return acquire(1, ctx); }

  // Gives n back. More than was taken, or a negative number: fatal error "semaphore released more than held". Blocks nobody.
  WEFT_MAY_SWITCH void release(std::int64_t n = 1) noexcept;

 private:
  void check(std::int64_t n) const {
    if (n < 0 || n > capacity_) [[unlikely]]
      refuse(n);
  }
  [[noreturn]] void refuse(std::int64_t n) const;

  bool take(std::int64_t n) noexcept {
    std::int64_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    while ((seen & kWaiting) == 0 && seen / kOne >= n) {
      // acquire: [semaphore.pass]; failed: looked at again
      if (state_.compare_exchange_weak(seen, seen - n * kOne, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    }
    return n == 0;
  }

  bool acquire_slow(std::int64_t n, std::int64_t deadline_ns) noexcept;
  bool acquire_revocably(std::int64_t n, void* revoker) noexcept;

  static constexpr std::int64_t kWaiting = 1;
  static constexpr std::int64_t kOne = 2;
  std::atomic<std::int64_t> state_;  // sync/semaphore_core.hpp
  const std::int64_t capacity_;
  detail::waiters waiters_;
};

}  // namespace weft::inline v1
