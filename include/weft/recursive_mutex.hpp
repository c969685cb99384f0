// recursive_mutex.hpp: a mutex whose holder may lock it again.
//
//   weft::recursive_mutex m;
//   std::lock_guard outer(m);
//   std::lock_guard inner(m);          // the same goroutine: does not wait
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/detail/config.hpp>
#include <weft/mutex.hpp>

namespace weft::inline v1 {

// Belongs to the goroutine (or the plain thread) that locked it, until it has unlocked it as often.
// Go has none, and says why: whoever must lock again does not know whether what the lock guards is in order. It is here for code that
// comes with one. Fair as weft::mutex.
class WEFT_API recursive_mutex {
 public:
  constexpr recursive_mutex() noexcept = default;
  recursive_mutex(const recursive_mutex&) = delete;
  recursive_mutex& operator=(const recursive_mutex&) = delete;

  // Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void lock() noexcept;
  [[nodiscard]] bool try_lock() noexcept;
  // By anybody but its holder: fatal error "unlock of a recursive_mutex that is not held".
  WEFT_MAY_SWITCH void unlock() noexcept;

 private:
  mutex mutex_;
  std::atomic<std::uint64_t> holder_{0};  // the id of who holds it
  std::uint64_t depth_ = 0;               // the holder's
};

}  // namespace weft::inline v1
