// event.hpp: the smallest thing that can be waited for.
//
//   weft::event ready;
//   weft::go([&] { prepare(); ready.set(); });
//   ready.wait();
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {

// Something that happens once and can be waited for; reset() makes it happen again later.
// Memory ordering: what was done before set() is visible after the wait() it ends.
// The event may be destroyed as soon as a wait() has returned.
class WEFT_API event {
 public:
  constexpr event() noexcept = default;
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  // Lets everyone through who waits now or later. Blocks nobody.
  WEFT_MAY_SWITCH void set() noexcept;

  // Returns at once when set; else waits for set(). Blocks: this goroutine only.
  WEFT_MAY_SWITCH void wait() noexcept {
    if (!is_set()) wait_slow();
  }

  // Closes the door again behind those who passed.
  void reset() noexcept;

  // Acquire: [event.set]
  bool is_set() const noexcept { return state_.load(std::memory_order_acquire) == kSet; }

 private:
  static constexpr std::uintptr_t kSet = 1;
  void wait_slow() noexcept;

  // 0: not set, nobody waits. kSet: set. Else: the list of those who wait.
  std::atomic<std::uintptr_t> state_{0};
};

}  // namespace weft::inline v1
