// condition_variable.hpp: waiting for something that others do under a mutex.
//
//   std::unique_lock hold(m);
//   has_work.wait(hold, [&] { return !queue.empty(); });
//
//   { std::lock_guard hold(m); queue.push(job); }
//   has_work.notify_one();
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include <weft/clock.hpp>
#include <weft/detail/config.hpp>
#include <weft/detail/waiters.hpp>
#include <weft/mutex.hpp>

namespace weft::inline v1 {

// std::condition_variable for weft::mutex, with sync.Cond's promises: those who wait are woken first come first, nobody who came after a
// notify is woken by it, and nobody is woken without one.
// It may be destroyed when all who wait have been notified, though they have not come back yet.
class WEFT_API condition_variable {
 public:
  constexpr condition_variable() noexcept = default;
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  // Wakes the one that has waited longest, if anybody waits. Blocks nobody.
  WEFT_MAY_SWITCH void notify_one() noexcept {
    if (has_waiters()) notify_slow(false);
  }
  WEFT_MAY_SWITCH void notify_all() noexcept {
    if (has_waiters()) notify_slow(true);
  }

  // Unlocks, waits for a notify, locks again; there is no moment in between at which one could be missed. The lock must be held.
  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void wait(std::unique_lock<mutex>& lock) noexcept {
    wait_until_ns(*lock.mutex(), detail::kLastNs);
  }
  template <class Predicate>
  WEFT_MAY_SWITCH void wait(std::unique_lock<mutex>& lock, Predicate is_true) {
    while (!is_true()) wait(lock);
  }

  // The same, but no longer than that. The lock is held again afterwards, also if that takes longer.
  template <class Rep, class Period>
  WEFT_MAY_SWITCH std::cv_status wait_for(std::unique_lock<mutex>& lock,
                                          const std::chrono::duration<Rep, Period>& d) {
    return wait_until(lock, deadline_after(d));
  }
  template <class Rep, class Period, class Predicate>
  WEFT_MAY_SWITCH bool wait_for(std::unique_lock<mutex>& lock,
                                const std::chrono::duration<Rep, Period>& d, Predicate is_true) {
    return wait_until(lock, deadline_after(d), std::move(is_true));
  }
  template <class Clock, class Duration>
  WEFT_MAY_SWITCH std::cv_status wait_until(std::unique_lock<mutex>& lock,
                                            const std::chrono::time_point<Clock, Duration>& when) {
    const bool was_notified = detail::wait_until_on(
        when, [&](std::int64_t deadline_ns) { return wait_until_ns(*lock.mutex(), deadline_ns); });
    return was_notified ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Clock, class Duration, class Predicate>
  WEFT_MAY_SWITCH bool wait_until(std::unique_lock<mutex>& lock,
                                  const std::chrono::time_point<Clock, Duration>& when,
                                  Predicate is_true) {
    while (!is_true())
      if (wait_until(lock, when) == std::cv_status::timeout) return is_true();
    return true;
  }

 private:
  template <class Rep, class Period>
  static time_point deadline_after(const std::chrono::duration<Rep, Period>& d) {
    return time_point(clock::duration(detail::deadline_in(detail::to_ns(d))));
  }

  // Who changed what is waited for under the mutex has seen whoever waits for it.
  bool has_waiters() const noexcept { return nwaiting_.load(std::memory_order_relaxed) != 0; }

  // True: notified. False: the time was over first.
  bool wait_until_ns(mutex& m, std::int64_t deadline_ns) noexcept;
  void notify_slow(bool all) noexcept;

  std::atomic<std::uint32_t> nwaiting_{0};
  detail::waiters waiters_;
};

}  // namespace weft::inline v1
