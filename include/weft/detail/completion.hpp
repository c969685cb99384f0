// completion.hpp: the end of something, waited for by one handle, and who frees what they share.
//
// An event with a third state, `detached`: whichever side comes second finds that out from the same word it has to touch anyway, so
// no reference count is needed. After finish() said true, or the handle has seen the end, only the handle touches the state.
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

class WEFT_API completion {
 public:
  constexpr completion() noexcept = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  // By the one that ends. True: the handle frees the state (perhaps it has already). False: it is detached, the caller does.
  bool finish() noexcept;

  // By the handle, instead of waiting. True: it has ended, the caller frees the state. False: finish() will find out.
  bool detach() noexcept;

  WEFT_MAY_SWITCH void wait() noexcept {
    if (state_.load(std::memory_order_acquire) != kSet) wait_slow();  // [event.set]
  }

  // False: the time came first.
  WEFT_MAY_SWITCH bool wait_until(std::int64_t deadline_ns) noexcept {
    // [event.set]
    return state_.load(std::memory_order_acquire) == kSet || wait_until_slow(deadline_ns);
  }

 private:
  static constexpr std::uintptr_t kSet = 1;
  void wait_slow() noexcept;
  bool wait_until_slow(std::int64_t deadline_ns) noexcept;

  std::atomic<std::uintptr_t> state_{0};
};

}  // namespace weft::inline v1::detail
