// group.hpp: goroutines that belong together: nobody outlives the scope, and one that fails stops the others.
//
//   weft::group g;
//   for (auto& url : urls) g.go([&url](const weft::context& ctx) { fetch(ctx, url); });
//   g.wait();                                    // all have ended; rethrows what the first that failed threw
//
// Here too, from headers of their own: parallel_for and parallel_map (parallel.hpp), worker_pool, single_flight.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <weft/context.hpp>
#include <weft/detail/first_error.hpp>
#include <weft/go.hpp>
#include <weft/parallel.hpp>
#include <weft/semaphore.hpp>
#include <weft/single_flight.hpp>
#include <weft/sync.hpp>
#include <weft/worker_pool.hpp>

namespace weft::inline v1 {

// Structured concurrency, and golang.org/x/sync/errgroup.
// The first exception that leaves a child cancels ctx(), with the exception as its cause, and is what wait() throws; what others throw
// after it is dropped. Children may start children. Everything but the destructor may be called from any thread.
// Memory ordering: what was done in a child is visible after wait().
class group {
 public:
  group() : group(background()) {}
  // ctx() is derived from that.
  explicit group(const context& parent) : group(with_cause(parent)) {}
  group(const group&) = delete;
  group& operator=(const group&) = delete;
  // Cancels ctx() and waits. What children threw is dropped: call wait() to see it.
  WEFT_MAY_SWITCH ~group() {
    cancel();
    children_.wait();
  }

  // Ends with the first failure, with cancel(), when wait() returns, or when its parent does.
  const context& ctx() const noexcept { return ctx_; }

  // Starts f, called with ctx() if it takes that. With a limit: waits until there is room.
  // Throws as weft::go.
  template <class F>
  WEFT_MAY_SWITCH void go(F&& f) {
    if (room_) room_->acquire();
    start(std::forward<F>(f));
  }

  // The same, but false instead of waiting for room.
  template <class F>
  [[nodiscard]] WEFT_MAY_SWITCH bool try_go(F&& f) {
    if (room_ && !room_->try_acquire()) return false;
    start(std::forward<F>(f));
    return true;
  }

  // At most so many children run at once. Before the first one is started.
  // Throws std::invalid_argument if it is 0, std::logic_error if there was a child or a limit before.
  void limit(std::size_t n) {
    if (n == 0) throw std::invalid_argument("weft::group: a limit of 0 lets nobody run");
    // relaxed: only to name a misuse
    if (room_ || has_begun_.load(std::memory_order_relaxed))
      throw std::logic_error("weft::group: limit() comes once, before the first go()");
    if (n < static_cast<std::size_t>(semaphore::max())) room_.emplace(static_cast<std::int64_t>(n));
  }

  // Asks the children to stop: ends ctx().
  WEFT_MAY_SWITCH void cancel() const noexcept { cancel_(); }

  // Waits until every child has ended, and ends ctx(). Rethrows what the first that failed threw, each time; goroutine_exited if it
  // called exit_goroutine().
  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void wait() {
    children_.wait();
    cancel();
    error_.rethrow();
  }

 private:
  explicit group(cancellable_context<cancel_cause_func> made) noexcept
      : ctx_(std::move(made.ctx)), cancel_(std::move(made.cancel)) {}

  template <class F>
  void start(F&& f) {
    using function = std::decay_t<F>;
    constexpr bool kTakesContext = std::is_invocable_v<function&, const context&>;
    static_assert(kTakesContext || std::is_invocable_v<function&>,
                  "group::go: f is called with a const weft::context&, or without arguments");
    struct leave {  // also if it cannot be started
      group* g;
      ~leave() {
        if (g != nullptr && g->room_) g->room_->release();
      }
    } undo{this};
    has_begun_.store(true,
                     std::memory_order_relaxed);  // limit() is not for others to call meanwhile
    children_.go([this, f = function(std::forward<F>(f))]() mutable {
      const leave when_it_ends{this};
      try {
        if constexpr (kTakesContext) {
          std::invoke(f, std::as_const(ctx_));
        } else {
          std::invoke(f);
        }
      } catch (...) {
        error_.set_caught([this](const std::exception_ptr& e) { cancel_(e); });
      }
    });
    undo.g = nullptr;
  }

  context ctx_;
  cancel_cause_func cancel_;
  std::optional<semaphore> room_;
  std::atomic<bool> has_begun_{false};
  detail::first_error error_;
  wait_group children_;  // the last that a child touches
};

}  // namespace weft::inline v1
