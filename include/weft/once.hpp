// once.hpp: something that is done once, by whoever comes first.
//
//   weft::once init;
//   init.call([] { load_tables(); });    // everyone may call it; all return when the tables are loaded
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {

// As sync.Once, but as std::call_once in one respect: an f that throws (or ends its goroutine) counts as not called.
// Memory ordering: what f did is visible after every call() that returns.
class WEFT_API once {
 public:
  constexpr once() noexcept = default;
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  // Calls f if nobody has; waits while somebody does. If f throws, its caller gets the exception and the next one calls its own f.
  // From within f: fatal error "once.call() inside its own function".
  // Blocks: this goroutine only (from a plain thread: that thread).
  template <class F>
    requires std::is_invocable_v<F>
  WEFT_MAY_SWITCH void call(F&& f) {
    if (is_done()) [[likely]]
      return;
    if (!begin()) return;
    struct ending {
      once* self;
      bool has_returned = false;
      ~ending() { self->finish(has_returned); }
    } at_end{this};
    std::invoke(std::forward<F>(f));
    at_end.has_returned = true;
  }

  // Whether some f has returned.
  bool is_done() const noexcept { return state_.load(std::memory_order_acquire) == kDone; }

 private:
  static constexpr std::uintptr_t kDone = 1;

  // True: the caller is to call f, and finish(). False: it was done.
  bool begin() noexcept;
  void finish(bool is_done) noexcept;

  std::atomic<std::uintptr_t> state_{0};  // sync/once_core.hpp
  std::atomic<std::uint64_t> runner_{0};  // the id of who calls f
};

}  // namespace weft::inline v1
