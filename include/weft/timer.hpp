// timer.hpp: the time as something to receive, and functions that are called later.
//
//   weft::select(weft::on_recv(replies, handle), weft::on_recv(weft::after(5s), [](auto) { give_up(); }));
//
//   weft::ticker every(100ms);
//   for (weft::time_point now : every.chan()) sample(now);      // until somebody leaves the loop
//
//   weft::after_func(1s, [] { std::puts("a second later"); });  // in a goroutine of its own
//
// As in Go 1.23: after stop() or reset() has returned, nothing is received that was due before; and what is due is there for whoever looks,
// by try_recv() or select(), although nobody has come to send it yet. The channel has no buffer that could be seen:
// len() and cap() are 0. What nobody can receive any more costs nothing: a timer whose handles are gone is stopped.
#pragma once

#include <chrono>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <weft/chan.hpp>
#include <weft/clock.hpp>
#include <weft/detail/alarm.hpp>
#include <weft/detail/launch.hpp>
#include <weft/detail/timed_call.hpp>

namespace weft::inline v1 {

namespace detail {

[[noreturn]] inline void throw_moved_from() {
  throw std::logic_error("weft: a timer that was moved from");
}

inline std::int64_t period_of(std::int64_t ns) {
  if (ns <= 0) throw std::invalid_argument("weft: a ticker needs a period longer than nothing");
  return ns;
}

// A share of a timed_call, or none.
class call_handle {
 public:
  call_handle() noexcept = default;
  explicit call_handle(timed_call* made) noexcept : call_(made) {}
  call_handle(call_handle&& other) noexcept : call_(std::exchange(other.call_, nullptr)) {}
  call_handle& operator=(call_handle&& other) noexcept {
    std::swap(call_, other.call_);
    return *this;
  }
  ~call_handle() {
    if (call_ != nullptr) call_->release();
  }
  timed_call* get() const noexcept { return call_; }

 private:
  timed_call* call_ = nullptr;
};

}  // namespace detail

// Once, after d. The time that is received is never before that.
// Move-only; one that was moved from throws std::logic_error.
class timer {
 public:
  template <class Rep, class Period>
  explicit timer(const std::chrono::duration<Rep, Period>& d)
      : chan_(
            weft::chan<time_point>(detail::make_alarm(detail::deadline_in(detail::to_ns(d)), 0))) {}
  timer(timer&&) noexcept = default;
  timer& operator=(timer&&) noexcept = default;

  // Receives the time, when it comes. Nil for after_func.
  const recv_chan<time_point>& chan() const& noexcept { return chan_; }
  recv_chan<time_point> chan() && noexcept { return std::move(chan_); }  // outlives the timer

  // True: it will not fire now, and its time has not been received. False: it has been, or it was stopped before.
  // Of after_func: true if the function will not be called; it does not wait for one that runs.
  WEFT_MAY_SWITCH bool stop() {
    if (call_.get() != nullptr) return call_.get()->stop();
    if (!chan_) detail::throw_moved_from();
    return detail::stop_alarm(chan_.raw());
  }

  // Fires d from now instead. True: as stop(). Of after_func: calls the function (again) then.
  template <class Rep, class Period>
  WEFT_MAY_SWITCH bool reset(const std::chrono::duration<Rep, Period>& d) {
    const std::int64_t when = detail::deadline_in(detail::to_ns(d));
    if (call_.get() != nullptr) return call_.get()->reset(when);
    if (!chan_) detail::throw_moved_from();
    return detail::reset_alarm(chan_.raw(), when, 0);
  }

 private:
  template <class Rep, class Period, class F>
  friend timer after_func(const std::chrono::duration<Rep, Period>& d, F&& f);
  explicit timer(detail::call_handle call) noexcept : call_(std::move(call)) {}

  recv_chan<time_point> chan_;
  detail::call_handle call_;
};

// Every d, until it is stopped. Whoever receives too seldom misses some.
// Throws std::invalid_argument if d is not longer than nothing. Move-only, as timer.
class ticker {
 public:
  template <class Rep, class Period>
  explicit ticker(const std::chrono::duration<Rep, Period>& d)
      : ticker(detail::period_of(detail::to_ns(d))) {}
  ticker(ticker&&) noexcept = default;
  ticker& operator=(ticker&&) noexcept = default;

  const recv_chan<time_point>& chan() const& noexcept { return chan_; }
  recv_chan<time_point> chan() && noexcept { return std::move(chan_); }  // outlives the ticker

  // Does not close the channel: nobody should take the end for a tick.
  WEFT_MAY_SWITCH void stop() {
    if (!chan_) detail::throw_moved_from();
    detail::stop_alarm(chan_.raw());
  }
  template <class Rep, class Period>
  WEFT_MAY_SWITCH void reset(const std::chrono::duration<Rep, Period>& d) {
    const std::int64_t period = detail::period_of(detail::to_ns(d));
    if (!chan_) detail::throw_moved_from();
    detail::reset_alarm(chan_.raw(), detail::deadline_in(period), period);
  }

 private:
  explicit ticker(std::int64_t period_ns)
      : chan_(
            weft::chan<time_point>(detail::make_alarm(detail::deadline_in(period_ns), period_ns))) {
  }

  recv_chan<time_point> chan_;
};

// The channel of a timer that nobody stops.
template <class Rep, class Period>
[[nodiscard]] recv_chan<time_point> after(const std::chrono::duration<Rep, Period>& d) {
  return chan<time_point>(detail::make_alarm(detail::deadline_in(detail::to_ns(d)), 0));
}

// Calls f after d, in a goroutine of its own, whatever becomes of the timer: only stop() prevents it. An exception that leaves f is one
// that leaves a goroutine.
template <class Rep, class Period, class F>
timer after_func(const std::chrono::duration<Rep, Period>& d, F&& f) {
  static_assert(std::is_invocable_v<std::decay_t<F>&>, "after_func: f is called without arguments");
  detail::reject_empty(f);
  detail::call_handle call(
      new detail::timed_call_of<std::decay_t<F>>(std::in_place, std::forward<F>(f)));
  call.get()->reset(detail::deadline_in(detail::to_ns(d)));
  return timer(std::move(call));
}

}  // namespace weft::inline v1
