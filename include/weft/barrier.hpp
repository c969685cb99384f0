// barrier.hpp: a door that opens again and again, each time when all have come.
//
//   weft::barrier step(workers, [&]() noexcept { swap(now, next); });      // by the last one, before anybody goes on
//   ... each worker:  for (...) { compute(now, next); step.arrive_and_wait(); }
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <weft/detail/config.hpp>
#include <weft/detail/waiters.hpp>

namespace weft::inline v1 {

namespace detail {

struct nothing_to_complete {
  void operator()() const noexcept {}
};

// All of the barrier but what is done when a phase is complete.
class WEFT_API barrier_base {
 public:
  barrier_base(const barrier_base&) = delete;
  barrier_base& operator=(const barrier_base&) = delete;

 protected:
  explicit barrier_base(std::ptrdiff_t expected) noexcept;
  ~barrier_base() = default;

  struct arrived {
    std::uint32_t phase;
    bool is_last;  // the caller does what is to be done, and then calls next_phase()
  };
  arrived count_down(std::ptrdiff_t n) noexcept;
  void next_phase() noexcept;
  void expect_one_less() noexcept;
  WEFT_MAY_SWITCH void wait_for_end_of(std::uint32_t phase) const noexcept {
    // [barrier.phase]
    if (static_cast<std::uint32_t>(state_.load(std::memory_order_acquire) >> 32) == phase)
      wait_slow(phase);
  }

 private:
  void wait_slow(std::uint32_t phase) const noexcept;

  // Whoever waits enters the queue and says so in the state, though wait() is const, as std::barrier's.
  mutable std::atomic<std::uint64_t> state_;  // sync/barrier_core.hpp
  std::atomic<std::uint32_t> expected_;       // in the phases to come
  mutable waiters waiters_;
};

}  // namespace detail

// std::barrier for goroutines, and for plain threads too.
// Memory ordering: what was done before arriving is visible in the completion and after every wait() of that phase; what the completion
// did as well. It may be destroyed when all have returned from their last wait().
template <class Completion = detail::nothing_to_complete>
class barrier : private detail::barrier_base {
  static_assert(
      std::is_nothrow_invocable_v<Completion&>,
      "the completion of a weft::barrier must be callable without arguments, and noexcept");

 public:
  class [[nodiscard]] arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;

   private:
    friend class barrier;
    explicit arrival_token(std::uint32_t phase) noexcept : phase_(phase) {}
    std::uint32_t phase_;
  };

  // How many come in each phase: at most max(), else fatal error "barrier with a count out of range".
  explicit barrier(std::ptrdiff_t expected, Completion f = Completion())
      : barrier_base(expected), completion_(std::move(f)) {}

  static constexpr std::ptrdiff_t max() noexcept { return INT32_MAX; }

  // One (or n) has come. More than are expected: fatal error "more arrived at a barrier than it expects".
  // The last one runs the completion. Blocks nobody.
  WEFT_MAY_SWITCH arrival_token arrive(std::ptrdiff_t n = 1) {
    const arrived a = count_down(n);
    if (a.is_last) complete();
    return arrival_token(a.phase);
  }
  // Until all of that phase have come. Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void wait(arrival_token&& token) const noexcept { wait_for_end_of(token.phase_); }
  WEFT_MAY_SWITCH void arrive_and_wait() { wait(arrive()); }
  // Comes for the last time: one less is expected from the next phase on.
  WEFT_MAY_SWITCH void arrive_and_drop() {
    expect_one_less();
    (void)arrive();
  }

 private:
  void complete() noexcept {
    completion_();
    next_phase();
  }

  [[no_unique_address]] Completion completion_;
};

}  // namespace weft::inline v1
