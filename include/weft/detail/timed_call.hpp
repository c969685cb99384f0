// timed_call.hpp: a function that is called at a time, in a goroutine of its own. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include <weft/detail/config.hpp>
#include <weft/detail/shares.hpp>

namespace weft::inline v1::detail {

// Lives as long as somebody has a handle, it is armed, or its function runs.
class WEFT_API timed_call {
 public:
  timed_call(const timed_call&) = delete;
  timed_call& operator=(const timed_call&) = delete;

  // True: it was armed, and is no more.
  WEFT_MAY_SWITCH bool stop() noexcept;
  // Throws std::bad_alloc, and then it is as before.
  WEFT_MAY_SWITCH bool reset(std::int64_t when_ns);

  void retain() noexcept { shares_.take(); }
  void release() noexcept {
    if (shares_.give_back()) delete this;
  }

 protected:
  timed_call();  // throws std::bad_alloc
  virtual ~timed_call();
  virtual void call() = 0;

 private:
  struct impl;
  static void run(void* storage);

  share_count shares_;
  impl* const impl_;
};

template <class F>
class timed_call_of final : public timed_call {
 public:
  template <class F2>
  timed_call_of(std::in_place_t, F2&& f) : function_(std::forward<F2>(f)) {}

 private:
  void call() override { std::invoke(function_); }
  F function_;
};

}  // namespace weft::inline v1::detail
