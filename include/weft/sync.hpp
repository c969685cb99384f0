// sync.hpp: goroutines that wait for one another.
//
//   weft::wait_group wg;
//   for (auto& url : urls) wg.go([&url] { fetch(url); });
//   wg.wait();
//
// Everything here works from any thread: a goroutine parks, a plain thread sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/barrier.hpp>
#include <weft/condition_variable.hpp>
#include <weft/detail/config.hpp>
#include <weft/event.hpp>
#include <weft/go.hpp>
#include <weft/latch.hpp>
#include <weft/mutex.hpp>
#include <weft/once.hpp>
#include <weft/recursive_mutex.hpp>
#include <weft/semaphore.hpp>
#include <weft/shared_mutex.hpp>

namespace weft::inline v1 {

// Waits for a number of goroutines (or of anything) to be done, as sync.WaitGroup.
// Memory ordering: what was done before done() is visible after the wait() it ends.
// The group may be used again, or destroyed, as soon as wait() has returned.
class WEFT_API wait_group {
 public:
  constexpr wait_group() noexcept = default;
  wait_group(const wait_group&) = delete;
  wait_group& operator=(const wait_group&) = delete;

  // Adds n (which may be negative) to the count. A count below zero is a fatal error.
  WEFT_MAY_SWITCH void add(std::int32_t n = 1) noexcept;
  WEFT_MAY_SWITCH void done() noexcept { add(-1); }

  // Waits until the count is zero. Blocks: this goroutine only.
  WEFT_MAY_SWITCH void wait() noexcept {
    if (count_.load(std::memory_order_acquire) != 0) wait_slow();  // [wait_group.done]
  }

  // Starts a goroutine that counts as one until it ends. f and the goroutine's locals are gone before.
  template <class F>
    requires std::is_invocable_v<std::decay_t<F>&>
  [[gnu::always_inline]] inline void go(F&& f) {
    detail::reject_empty(f);
    add(1);
    struct undo {  // if the goroutine cannot be started
      wait_group* group;
      ~undo() {
        if (group) group->done();
      }
    } guard{this};
    using function = std::decay_t<F>;
    if constexpr (std::is_trivially_destructible_v<function>) {
      weft::go([this, f = function(std::forward<F>(f))]() mutable {
        const undo when_it_ends{this};
        run_whole(f);
      });
    } else {
      weft::go([this, f = std::optional<function>(std::in_place, std::forward<F>(f))]() mutable {
        const undo when_it_ends{this};
        struct before {
          std::optional<function>& f;
          ~before() { f.reset(); }
        } that{f};
        run_whole(*f);
      });
    }
    guard.group = nullptr;
  }

 private:
  void wait_slow() noexcept;

  template <class F>
  static void run_whole(F& f) {
    struct locals {
      ~locals() { detail::end_goroutine_locals(); }
    } end_with_it;
    std::invoke(f);
  }

  // Low half: the count. Upper half: whether anybody waits (sync/wait_group_core.hpp).
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint32_t> lock_{0};
  void* waiters_ = nullptr;
};

}  // namespace weft::inline v1
