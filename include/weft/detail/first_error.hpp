// first_error.hpp: what went wrong first among several goroutines that work together. Not for users.
#pragma once

#include <atomic>
#include <exception>
#include <utility>

#include <weft/detail/config.hpp>
#include <weft/detail/unwind.hpp>
#include <weft/error.hpp>

namespace weft::inline v1::detail {

class first_error {
 public:
  // Whether anything did. Relaxed: it only says that there is no need to go on.
  bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }

  // True: it was the first.
  bool set(std::exception_ptr e) noexcept {
    // relaxed: who was first; error_ is read when all have ended
    if (is_set_.exchange(true, std::memory_order_relaxed)) return false;
    error_ = std::move(e);
    return true;
  }

  // In a `catch (...)`: the exception that was caught. Rethrows it if it is exit_goroutine() on its way, of which those who wait get
  // a goroutine_exited. `then` is called with what was set, if it was the first.
  template <class Then>
  void set_caught(Then&& then) {
    const bool is_exit = must_rethrow();
    const std::exception_ptr e =
        is_exit ? std::make_exception_ptr(goroutine_exited()) : std::current_exception();
    if (set(e)) then(e);
    if (is_exit) throw;
  }

  // When all are known to have ended.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> is_set_{false};
  std::exception_ptr error_;  // by whoever set it; read when all have ended
};

}  // namespace weft::inline v1::detail
