// timer.hpp: the time as something to receive.
//
//   weft::select(weft::on_recv(replies, handle), weft::on_recv(weft::after(5s), [](auto) { give_up(); }));
//
//   weft::ticker every(100ms);
//   for (weft::time_point now : every.chan()) sample(now);      // until somebody leaves the loop
//
// As in Go 1.23: after stop() or reset() has returned, nothing is received that was due before. The channel has no buffer that could be seen:
// len() and cap() are 0. What nobody can receive any more costs nothing: a timer whose handles are gone is stopped.
#pragma once

#include <chrono>
#include <stdexcept>
#include <utility>

#include <weft/chan.hpp>
#include <weft/detail/alarm.hpp>
#include <weft/time.hpp>

namespace weft::inline v1 {

namespace detail {

// Shared by timer and ticker. Move-only; moved from, it has no channel, and its calls throw std::logic_error.
class alarm_handle {
 public:
  alarm_handle(alarm_handle&&) noexcept = default;
  alarm_handle& operator=(alarm_handle&&) noexcept = default;

  // Receives the time, when it comes.
  const recv_chan<time_point>& chan() const noexcept { return chan_; }

 protected:
  alarm_handle(std::int64_t when_ns, std::int64_t period_ns)
      : chan_(weft::chan<time_point>(make_alarm(when_ns, period_ns))) {}
  ~alarm_handle() = default;

  channel* raw() const {
    if (!chan_) throw std::logic_error("weft: a timer that was moved from");
    return chan_.raw();
  }

 private:
  recv_chan<time_point> chan_;
};

inline std::int64_t period_of(std::int64_t ns) {
  if (ns <= 0) throw std::invalid_argument("weft: a ticker needs a period longer than nothing");
  return ns;
}

}  // namespace detail

// Once, after d. The time that is received is never before that.
class timer : public detail::alarm_handle {
 public:
  template <class Rep, class Period>
  explicit timer(const std::chrono::duration<Rep, Period>& d)
      : alarm_handle(detail::deadline_in(detail::to_ns(d)), 0) {}

  // True: it will not fire now, and its time has not been received. False: it has been, or it was stopped before.
  WEFT_MAY_SWITCH bool stop() { return detail::stop_alarm(raw()); }
  // Fires d from now instead. True: as stop().
  template <class Rep, class Period>
  WEFT_MAY_SWITCH bool reset(const std::chrono::duration<Rep, Period>& d) {
    return detail::reset_alarm(raw(), detail::deadline_in(detail::to_ns(d)), 0);
  }
};

// Every d, until it is stopped. Whoever receives too seldom misses some.
// Throws std::invalid_argument if d is not longer than nothing.
class ticker : public detail::alarm_handle {
 public:
  template <class Rep, class Period>
  explicit ticker(const std::chrono::duration<Rep, Period>& d)
      : ticker(detail::period_of(detail::to_ns(d))) {}

  // Does not close the channel: nobody should take the end for a tick.
  WEFT_MAY_SWITCH void stop() { detail::stop_alarm(raw()); }
  template <class Rep, class Period>
  WEFT_MAY_SWITCH void reset(const std::chrono::duration<Rep, Period>& d) {
    const std::int64_t period = detail::period_of(detail::to_ns(d));
    detail::reset_alarm(raw(), detail::deadline_in(period), period);
  }

 private:
  explicit ticker(std::int64_t period_ns)
      : alarm_handle(detail::deadline_in(period_ns), period_ns) {}
};

// The channel of a timer that nobody stops.
template <class Rep, class Period>
[[nodiscard]] recv_chan<time_point> after(const std::chrono::duration<Rep, Period>& d) {
  return chan<time_point>(detail::make_alarm(detail::deadline_in(detail::to_ns(d)), 0));
}

}  // namespace weft::inline v1
