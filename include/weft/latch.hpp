// latch.hpp: a door that opens once, when so many have come.
//
//   weft::latch ready(3);
//   weft::go([&] { prepare(); ready.count_down(); });     // three of these
//   ready.wait();
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {

// std::latch for goroutines, and for plain threads too.
// Memory ordering: what was done before count_down() is visible after the wait() it ends.
// It may be destroyed as soon as a wait() has returned, when nobody else waits.
class WEFT_API latch {
 public:
  // How many are awaited: at least none, and at most max(), else fatal error "latch with a count out of range".
  explicit latch(std::ptrdiff_t expected) noexcept : count_(checked(expected)) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  static constexpr std::ptrdiff_t max() noexcept { return INT32_MAX; }

  // Counts n less; more than are left is a fatal error ("latch counted down below zero"). Blocks nobody.
  WEFT_MAY_SWITCH void count_down(std::ptrdiff_t n = 1) noexcept;
  // Whether the door is open.
  [[nodiscard]] bool try_wait() const noexcept {
    return count_.load(std::memory_order_acquire) == 0;  // [wait_group.done]
  }
  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void wait() const noexcept {
    if (!try_wait()) wait_slow();
  }
  WEFT_MAY_SWITCH void arrive_and_wait(std::ptrdiff_t n = 1) noexcept {
    count_down(n);
    wait();
  }

 private:
  static std::uint64_t checked(std::ptrdiff_t expected) noexcept;
  void wait_slow() const noexcept;

  // As wait_group's (sync/wait_group_core.hpp). Whoever waits enters the list, though wait() is const, as std::latch's.
  mutable std::atomic<std::uint64_t> count_;
  mutable std::atomic<std::uint32_t> lock_{0};
  mutable void* waiters_ = nullptr;
};

}  // namespace weft::inline v1
