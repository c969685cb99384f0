// clock.hpp: the clock, and sleeping. Timers and tickers are in <weft/timer.hpp>, all of it in <weft/time.hpp>.
//
//   weft::sleep_for(10ms);                               // this goroutine only; its processor serves others
//   weft::sleep_until(weft::clock::now() + 1s);
//   auto began = weft::clock::now();
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {

namespace detail {

// Nanoseconds of weft::clock: CLOCK_MONOTONIC. All of weft asks here what time it is.
WEFT_API std::int64_t now_ns() noexcept;

// Returns when weft::clock has reached deadline_ns, never before. A time that has passed: lets others run once.
// The largest value: never returns.
WEFT_API WEFT_MAY_SWITCH void sleep_until_ns(std::int64_t deadline_ns) noexcept;

}  // namespace detail

// A steady clock: it never goes back, and does not count the time the machine was suspended.
struct clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept { return time_point(duration(detail::now_ns())); }
};

using time_point = clock::time_point;

namespace detail {

inline constexpr std::int64_t kLastNs = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kFirstNs = std::numeric_limits<std::int64_t>::min();

// a * b + c, or the end of the range that it would have left.
constexpr std::int64_t saturating_muladd(std::int64_t a, std::int64_t b, std::int64_t c) noexcept {
  std::int64_t product = 0;
  std::int64_t sum = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kLastNs : kFirstNs;
  if (__builtin_add_overflow(product, c, &sum)) return c < 0 ? kFirstNs : kLastNs;
  return sum;
}

enum class rounding : std::uint8_t { up, down };

// Whole nanoseconds; what does not fit becomes the end of the range, and what is not a number 0. Deadlines are rounded up and the
// present down, so that nobody wakes early.
template <rounding Direction = rounding::up, class Rep, class Period>
constexpr std::int64_t to_ns(const std::chrono::duration<Rep, Period>& d) {
  using to_nano = std::ratio_divide<Period, std::nano>;  // nanoseconds in one tick
  constexpr bool kIsUp = Direction == rounding::up;
  if constexpr (std::integral<Rep> && to_nano::den <= kLastNs / to_nano::num) {
    if constexpr (std::unsigned_integral<Rep>) {
      if (static_cast<std::uint64_t>(d.count()) > static_cast<std::uint64_t>(kLastNs))
        return kLastNs;
    }
    const auto count = static_cast<std::int64_t>(d.count());
    const std::int64_t rest = count % to_nano::den * to_nano::num;
    const std::int64_t cut = rest % to_nano::den;  // what division towards zero leaves out
    const std::int64_t rounded = kIsUp ? (cut > 0 ? 1 : 0) : (cut < 0 ? -1 : 0);
    return saturating_muladd(count / to_nano::den, to_nano::num, rest / to_nano::den + rounded);
  } else if constexpr (std::is_arithmetic_v<Rep>) {
    if (d.count() != d.count()) return 0;
    const long double ns =
        static_cast<long double>(d.count()) * to_nano::num / static_cast<long double>(to_nano::den);
    if (ns >= static_cast<long double>(kLastNs)) return kLastNs;
    if (ns <= static_cast<long double>(kFirstNs)) return kFirstNs;
    const auto whole = static_cast<std::int64_t>(ns);
    const auto cut = ns - static_cast<long double>(whole);
    return whole + (kIsUp ? (cut > 0 ? 1 : 0) : (cut < 0 ? -1 : 0));
  } else {  // somebody's own number: the range is theirs to keep
    if constexpr (kIsUp) return std::chrono::ceil<std::chrono::nanoseconds>(d).count();
    return std::chrono::floor<std::chrono::nanoseconds>(d).count();
  }
}

// The moment `ns` from now; the end of time if that is later.
inline std::int64_t deadline_in(std::int64_t ns) noexcept {
  return saturating_muladd(ns, 1, now_ns());
}

// When that is by weft's clock, as far as can be said now; kFirstNs: it has been.
template <class Clock, class Duration>
std::int64_t deadline_on(const std::chrono::time_point<Clock, Duration>& when) {
  const std::int64_t end = to_ns(when.time_since_epoch());
  if constexpr (std::is_same_v<Clock, clock>) {
    return end;
  } else {
    const std::int64_t now = to_ns<rounding::down>(Clock::now().time_since_epoch());
    return end <= now ? kFirstNs : deadline_in(saturating_muladd(now, -1, end));
  }
}

// wait(deadline_ns) says whether what it waits for has come; until it has, or `when` has. The last time it is asked only to look
// (kFirstNs). A clock that is not ours may have been set while we waited, so it is asked again.
template <class Clock, class Duration, class Wait>
WEFT_MAY_SWITCH bool wait_until_on(const std::chrono::time_point<Clock, Duration>& when,
                                   Wait&& wait) {
  for (;;) {
    const std::int64_t deadline_ns = deadline_on(when);
    if (wait(deadline_ns)) return true;
    if (std::is_same_v<Clock, clock> || deadline_ns == kFirstNs) return false;
  }
}

}  // namespace detail

// Waits at least d. Zero, negative or not a number: lets others run once. Longer than weft::clock can tell (some 292 years, or
// infinite): for ever.
// Never early, whatever signals arrive; how late depends on the machine, not on a tick.
// Blocks: this goroutine only (from a plain thread: that thread).
template <class Rep, class Period>
WEFT_MAY_SWITCH void sleep_for(const std::chrono::duration<Rep, Period>& d) {
  const std::int64_t ns = detail::to_ns(d);
  detail::sleep_until_ns(ns > 0 ? detail::deadline_in(ns) : detail::kFirstNs);
}

// Waits until Clock::now() >= when. A time that has passed: lets others run once.
// With a clock that can be set (std::chrono::system_clock) it is looked at again after waking, as the standard library does: set back
// meanwhile, the wait goes on; set forward, it ends no earlier for that.
// Blocks: this goroutine only (from a plain thread: that thread).
template <class Clock, class Duration>
WEFT_MAY_SWITCH void sleep_until(const std::chrono::time_point<Clock, Duration>& when) {
  if constexpr (std::is_same_v<Clock, clock>) {
    detail::sleep_until_ns(detail::to_ns(when.time_since_epoch()));
  } else {
    bool has_slept = false;
    detail::wait_until_on(when, [&has_slept](std::int64_t deadline_ns) {
      if (deadline_ns != detail::kFirstNs || !has_slept) detail::sleep_until_ns(deadline_ns);
      has_slept = true;
      return false;
    });
  }
}

}  // namespace weft::inline v1
