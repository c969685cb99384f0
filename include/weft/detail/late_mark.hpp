// late_mark.hpp: an event that one goroutine or thread has promised to set; or never will, since its runtime has ended. Not for users.
//
// Whoever waits for it is told which. A goroutine's promise ends with its runtime: set() is a call into weft, and after the end of the
// runtime none of its goroutines comes through one. A plain thread's promise does not end.
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

class WEFT_API late_mark {
 public:
  constexpr late_mark() noexcept = default;
  late_mark(const late_mark&) = delete;
  late_mark& operator=(const late_mark&) = delete;

  // By the one who will set it, before anybody can wait.
  void promise() noexcept;

  // What was done before is visible after wait(); the mark may be gone at once.
  WEFT_MAY_SWITCH void set() noexcept;

  // By one at a time. False: it was not set, and never will be; but the one who promised may still be at work, in code of the user's.
  WEFT_MAY_SWITCH bool wait() noexcept {
    return state_.load(std::memory_order_acquire) == kSet || wait_slow();  // [event.set]
  }

 private:
  static constexpr std::uintptr_t kSet = 1;
  bool wait_slow() noexcept;

  std::atomic<std::uintptr_t> state_{0};  // as weft::event's
  std::uint32_t epoch_ = 0;               // whose runtime; 0: a plain thread's
};

}  // namespace weft::inline v1::detail
