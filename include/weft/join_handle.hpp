// join_handle.hpp: the result of a goroutine that was started with spawn().
//
//   auto h = weft::spawn(parse, text);
//   document d = h.join();               // waits; rethrows what parse() threw
//   auto [a, b] = weft::await_all(weft::spawn(f), weft::spawn(g));
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

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

  // Waits for the end and leaves the result where it is.
  WEFT_MAY_SWITCH void wait() {
    if (!state_)
      throw std::logic_error("weft: join of a goroutine that was joined or detached before");
    state_->done.wait();
  }

  bool joinable() const noexcept { return state_ != nullptr; }
  void detach() noexcept {
    if (state_ && state_->done.detach()) delete state_;
    state_ = nullptr;
  }

 private:
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
