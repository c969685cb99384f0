// join_handle.hpp: the result of a goroutine that was started with spawn().
//
//   auto h = weft::spawn(parse, text);
//   document d = h.join();               // waits; rethrows what parse() threw
//   if (auto d = h.join_for(1s)) use(*d);   // std::optional: nothing after a second, and it runs on
//   auto [a, b] = weft::await_all(weft::spawn(f), weft::spawn(g));
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/clock.hpp>
#include <weft/detail/completion.hpp>
#include <weft/detail/config.hpp>
#include <weft/detail/unwind.hpp>
#include <weft/error.hpp>

namespace weft::inline v1 {

namespace detail {

WEFT_API void end_goroutine_locals() noexcept;

// What the goroutine and its handle share. `done` says who frees it.
class join_base {
 public:
  completion done;
  std::exception_ptr error;
  bool exited = false;  // by exit_goroutine()

  join_base() noexcept = default;
  join_base(const join_base&) = delete;
  join_base& operator=(const join_base&) = delete;
  virtual ~join_base() = default;
};

template <class R>
class join_state : public join_base {
 public:
  template <class Call>
  void fill(Call& call) {
    if constexpr (std::is_void_v<R>) {
      call();
    } else if constexpr (std::is_reference_v<R>) {
      value_ = std::addressof(call());
    } else {
      value_.emplace(call());
    }
  }

  R take() {
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*value_);
    } else if constexpr (!std::is_void_v<R>) {
      return std::move(*value_);
    }
  }

 private:
  using stored = std::conditional_t<
      std::is_void_v<R>, std::monostate,
      std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, std::optional<R>>>;
  [[no_unique_address]] stored value_{};
};

// The state with the closure beside it: spawn() allocates once.
template <class Call>
class join_cell final : public join_state<std::invoke_result_t<Call&>> {
 public:
  template <class... Args>
  explicit join_cell(Args&&... args) {
    call_.emplace(std::forward<Args>(args)...);
  }

  // The goroutine's body. The closure and the goroutine's locals are gone before anyone can join.
  void run() {
    try {
      this->fill(*call_);
    } catch (...) {
      if (must_rethrow()) {
        this->exited = true;
        finish();
        throw;
      }
      this->error = std::current_exception();
    }
    finish();
  }

 private:
  void finish() noexcept {
    call_.reset();
    end_goroutine_locals();
    if (!this->done.finish()) delete this;
  }

  std::optional<Call> call_;
};

template <class Call>
struct join_runner {
  join_cell<Call>* cell;
  explicit join_runner(join_cell<Call>* c) noexcept : cell(c) {}
  void operator()() { cell->run(); }
};

}  // namespace detail

// What join_for() gives: nothing yet, or the result.
template <class R>
using maybe_joined = std::conditional_t<
    std::is_void_v<R>, bool,
    std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, std::optional<R>>>;

// Move-only. Its destructor lets the goroutine run on without it.
template <class R>
class [[nodiscard]] join_handle {
 public:
  join_handle() noexcept = default;
  explicit join_handle(detail::join_state<R>* state) noexcept : state_(state) {}
  join_handle(join_handle&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  join_handle& operator=(join_handle&& other) noexcept {
    if (this != &other) {
      detach();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~join_handle() { detach(); }

  // Waits for the goroutine to end and gives its result, or rethrows what it threw.
  // Throws std::logic_error when joined (or detached) before, goroutine_exited when it called exit_goroutine().
  // Blocks: this goroutine only.
  WEFT_MAY_SWITCH R join() {
    wait();
    const std::unique_ptr<detail::join_state<R>> mine(std::exchange(state_, nullptr));
    if (mine->error) std::rethrow_exception(std::move(mine->error));
    if (mine->exited) throw goroutine_exited();
    return mine->take();
  }

  // The same, but waits no longer than that: std::optional of the result (void: bool; a reference: a pointer), empty if the goroutine
  // had not ended. Then the handle is as before. An error is rethrown as by join(). A time that has passed: lets others run once, and looks.
  template <class Rep, class Period>
  WEFT_MAY_SWITCH maybe_joined<R> join_for(const std::chrono::duration<Rep, Period>& d) {
    return wait_for(d) ? joined() : maybe_joined<R>{};
  }
  template <class Clock, class Duration>
  WEFT_MAY_SWITCH maybe_joined<R> join_until(const std::chrono::time_point<Clock, Duration>& when) {
    return wait_until(when) ? joined() : maybe_joined<R>{};
  }

  // Waits for the end and leaves the result where it is.
  WEFT_MAY_SWITCH void wait() {
    require_state();
    state_->done.wait();
  }
  // False: it had not ended by then.
  template <class Rep, class Period>
  [[nodiscard]] WEFT_MAY_SWITCH bool wait_for(const std::chrono::duration<Rep, Period>& d) {
    require_state();
    return state_->done.wait_until(detail::deadline_in(detail::to_ns(d)));
  }
  template <class Clock, class Duration>
  [[nodiscard]] WEFT_MAY_SWITCH bool wait_until(
      const std::chrono::time_point<Clock, Duration>& when) {
    require_state();
    return detail::wait_until_on(
        when, [this](std::int64_t deadline_ns) { return state_->done.wait_until(deadline_ns); });
  }

  bool joinable() const noexcept { return state_ != nullptr; }
  void detach() noexcept {
    if (state_ && state_->done.detach()) delete state_;
    state_ = nullptr;
  }

 private:
  void require_state() const {
    if (!state_)
      throw std::logic_error("weft: join of a goroutine that was joined or detached before");
  }

  maybe_joined<R> joined() {
    if constexpr (std::is_void_v<R>) {
      join();
      return true;
    } else if constexpr (std::is_reference_v<R>) {
      auto&& result = join();
      return std::addressof(result);
    } else {
      return join();
    }
  }

  detail::join_state<R>* state_ = nullptr;
};

namespace detail {

// Owns the state until the goroutine has started and the handle is made.
template <class Call>
class join_starter {
 public:
  template <class... Args>
  explicit join_starter(Args&&... args)
      : cell_(std::make_unique<join_cell<Call>>(std::forward<Args>(args)...)) {}

  join_cell<Call>* runner() const noexcept { return cell_.get(); }
  auto handle() noexcept { return join_handle<std::invoke_result_t<Call&>>(cell_.release()); }

 private:
  std::unique_ptr<join_cell<Call>> cell_;
};

template <class R>
auto join_value(join_handle<R>& h) {
  if constexpr (std::is_void_v<R>) {
    h.join();
    return std::monostate{};
  } else if constexpr (std::is_reference_v<R>) {
    return std::ref(h.join());
  } else {
    return h.join();
  }
}

}  // namespace detail

// Waits for all of them, then gives their results in order (std::monostate for void), or rethrows what the first
// of them in order threw.
template <class... Rs>
auto await_all(join_handle<Rs>... handles) {
  (handles.wait(), ...);
  using results = std::tuple<decltype(detail::join_value(handles))...>;
  return results{detail::join_value(handles)...};
}

}  // namespace weft::inline v1
