// go.hpp: starting goroutines, and what a goroutine can do with itself.
//
//   weft::go(f, args...);                                   // fire and forget; decay-copies like std::thread
//   weft::go({.name = "reader", .stack_size = 1 << 20}, f); // go_options first
//   auto h = weft::spawn(f, args...);                       // join_handle<R>
//   R r = h.join();                                         // waits; rethrows what f threw
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/detail/config.hpp>
#include <weft/detail/launch.hpp>
#include <weft/error.hpp>
#include <weft/goroutine_local.hpp>
#include <weft/join_handle.hpp>

namespace weft::inline v1 {

// Starts f(args...) as a goroutine. It may be running before go() returns, and outlive the caller.
// An exception that leaves f ends the process with a message, like an unhandled Go panic.
// Throws not_running without a runtime, std::invalid_argument for an empty function.
// Memory ordering: what was done before go() is visible in f. Blocks: nothing.
template <class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
[[gnu::always_inline]] inline void go(F&& f, Args&&... args) {
  detail::reject_empty(f);
  using call = detail::bound_call<std::decay_t<F>, std::decay_t<Args>...>;
  detail::start<call>("weft::go", nullptr, std::forward<F>(f), std::forward<Args>(args)...);
}

template <class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
[[gnu::always_inline]] inline void go(const go_options& opts, F&& f, Args&&... args) {
  detail::reject_empty(f);
  using call = detail::bound_call<std::decay_t<F>, std::decay_t<Args>...>;
  detail::start<call>("weft::go", &opts, std::forward<F>(f), std::forward<Args>(args)...);
}

// Starts f(args...) and gives a handle to its result.
template <class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
[[gnu::always_inline]] inline auto spawn(F&& f, Args&&... args) {
  detail::reject_empty(f);
  using call = detail::bound_call<std::decay_t<F>, std::decay_t<Args>...>;
  detail::join_starter<call> s(std::forward<F>(f), std::forward<Args>(args)...);
  detail::start<detail::join_runner<call>>("weft::spawn", nullptr, s.runner());
  return s.handle();
}

template <class F, class... Args>
  requires std::invocable<std::decay_t<F>, std::decay_t<Args>...>
[[gnu::always_inline]] inline auto spawn(const go_options& opts, F&& f, Args&&... args) {
  detail::reject_empty(f);
  using call = detail::bound_call<std::decay_t<F>, std::decay_t<Args>...>;
  detail::join_starter<call> s(std::forward<F>(f), std::forward<Args>(args)...);
  detail::start<detail::join_runner<call>>("weft::spawn", &opts, s.runner());
  return s.handle();
}

// Lets others run first (runtime.Gosched). From a plain thread: yields the CPU.
WEFT_API WEFT_MAY_SWITCH void yield() noexcept;

// A place where this goroutine lets others run if its time is up; else it costs about a nanosecond.
WEFT_API WEFT_MAY_SWITCH void checkpoint() noexcept;

// Ties this goroutine to the thread it runs on until as many unlock_os_thread() calls were made: nobody else runs
// there, and it runs nowhere else. A goroutine that ends locked takes its thread with it.
WEFT_API WEFT_MAY_SWITCH void lock_os_thread();
WEFT_API WEFT_MAY_SWITCH void unlock_os_thread();

// Ends this goroutine: unwinds its stack, runs its destructors, and never returns (runtime.Goexit).
// A `catch (...)` that does not rethrow, or a noexcept function on the way, is a fatal error.
[[noreturn]] WEFT_API void exit_goroutine();

namespace detail {
WEFT_API void begin_blocking() noexcept;
WEFT_API void end_blocking() noexcept;  // keeps errno
}  // namespace detail

// Runs f, which may block the thread (flock, a library that sleeps, a slow disk); other goroutines get its
// processor meanwhile. Returns what f returns, on the thread that ran it, so errno is f's.
template <class F>
  requires std::invocable<F>
decltype(auto) blocking(F&& f) {
  struct section {
    section() noexcept { detail::begin_blocking(); }
    ~section() { detail::end_blocking(); }
  } inside;
  return std::invoke(std::forward<F>(f));
}

// While one exists this goroutine keeps its processor and is not stopped: for code that must not lose its CPU to another goroutine of
// this program, such as a loop that waits for a device. It delays everything that waits for this processor, so keep it short. Parking
// inside it is allowed and lets others run. Guards may nest, up to 63 deep. On a plain thread it does nothing.
class WEFT_API no_preempt {
 public:
  no_preempt() noexcept;
  ~no_preempt();
  no_preempt(const no_preempt&) = delete;
  no_preempt& operator=(const no_preempt&) = delete;
};

// The goroutine that calls, or the plain thread that does (which has an id of its own).
namespace this_goroutine {
WEFT_API std::uint64_t id() noexcept;
WEFT_API std::string name();
WEFT_API void set_name(std::string_view name);
// The processor time it has used, counted where WEFT_DEBUG=cputime=1 asks for it; else zero, as on a plain thread.
WEFT_API std::chrono::nanoseconds cpu_time() noexcept;
}  // namespace this_goroutine

}  // namespace weft::inline v1
