// mutex.hpp: one at a time.
//
//   weft::mutex m;
//   {
//     std::lock_guard hold(m);                // std::unique_lock and std::scoped_lock as well
//     ++shared;
//   }
//
// A goroutine that waits for a mutex parks; its processor serves others. A plain thread sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <weft/clock.hpp>
#include <weft/detail/config.hpp>
#include <weft/detail/point.hpp>
#include <weft/detail/waiters.hpp>

namespace weft::inline v1 {

// As sync.Mutex. It belongs to nobody: whoever likes may unlock what another goroutine or thread has locked.
// A free mutex is taken by whoever comes first, also past those who wait; but one that has waited for a millisecond gets it next.
// Memory ordering: what was done before unlock() is visible after the next lock().
// The mutex may be destroyed by whoever has locked and unlocked it last, also while the unlock() before is still returning.
class WEFT_API mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH WEFT_POINTED void lock() noexcept {
    detail::lock_point();
    if (!take()) [[unlikely]]
      lock_slow(detail::kLastNs);
  }

  // Never waits.
  [[nodiscard]] WEFT_POINTED bool try_lock() noexcept {
    detail::lock_point();
    return take();
  }

  // A mutex that is not locked: fatal error "unlock of unlocked mutex" (of two who unlock it in the same nanoseconds perhaps neither notices).
  // Blocks nobody.
  WEFT_MAY_SWITCH WEFT_POINTED void unlock() noexcept {
    detail::lock_point();
    const std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by what follows
    if (seen == kCalmLocked ? !unlock_calm() : !unlock_warily(seen)) [[unlikely]]
      unlock_slow();
  }

 private:
  friend class timed_mutex;
  // sync/mutex_core.hpp
  static constexpr std::uint32_t kLocked = 1;
  static constexpr std::uint32_t kTurn = 1 << 3;
  static constexpr std::uint32_t kTurns = 0x7ff8;
  static constexpr std::uint32_t kCalmLocked = kTurns | kLocked;

  // Also past those who wait. Where somebody has it the bit is set once more, which changes nothing.
  bool take() noexcept {
    return (state_.fetch_or(kLocked, std::memory_order_acquire) & kLocked) == 0;  // [mutex.pass]
  }

  // False: it was not free by then.
  bool lock_slow(std::int64_t deadline_ns) noexcept;
  // False: it was disturbed. Nobody has been for a while, so it costs no locked instruction.
  bool unlock_calm() noexcept;
  // False: somebody waits or is on its way, or it is not locked. A while of this, and it is calm.
  bool unlock_warily(std::uint32_t seen) noexcept {
    return (seen & ~kTurns) == kLocked &&
           state_.compare_exchange_strong(seen, seen + kTurn - kLocked,
                                          std::memory_order_release,   // [mutex.pass]
                                          std::memory_order_relaxed);  // failed: looked at again
  }
  void unlock_slow() noexcept;

  std::atomic<std::uint32_t> state_{0};
  detail::waiters waiters_;
};

// A mutex that can be waited for no longer than one likes.
//
//   if (m.try_lock_for(10ms)) { ...; m.unlock(); }
class WEFT_API timed_mutex {
 public:
  constexpr timed_mutex() noexcept = default;
  timed_mutex(const timed_mutex&) = delete;
  timed_mutex& operator=(const timed_mutex&) = delete;

  WEFT_MAY_SWITCH void lock() noexcept { mutex_.lock(); }
  [[nodiscard]] bool try_lock() noexcept { return mutex_.try_lock(); }
  WEFT_MAY_SWITCH void unlock() noexcept { mutex_.unlock(); }

  // False: it was not to be had in that time. A time that has passed: lets others run once, and tries.
  template <class Rep, class Period>
  [[nodiscard]] WEFT_MAY_SWITCH bool try_lock_for(const std::chrono::duration<Rep, Period>& d) {
    return mutex_.take() || mutex_.lock_slow(detail::deadline_in(detail::to_ns(d)));
  }
  template <class Clock, class Duration>
  [[nodiscard]] WEFT_MAY_SWITCH bool try_lock_until(
      const std::chrono::time_point<Clock, Duration>& when) {
    return mutex_.take() || detail::wait_until_on(when, [this](std::int64_t deadline_ns) {
             return mutex_.lock_slow(deadline_ns);
           });
  }

 private:
  mutex mutex_;
};

}  // namespace weft::inline v1
