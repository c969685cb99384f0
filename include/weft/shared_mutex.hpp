// shared_mutex.hpp: many who read, or one who writes.
//
//   weft::shared_mutex m;
//   { std::shared_lock hold(m); look(table); }
//   { std::unique_lock hold(m); change(table); }
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/detail/config.hpp>
#include <weft/detail/point.hpp>
#include <weft/detail/waiters.hpp>

namespace weft::inline v1 {

// As sync.RWMutex: once somebody waits to write, nobody new may read; and who has written lets all those read that came meanwhile,
// before the next one writes. So neither starves the other. Reading twice in one goroutine can therefore block, with a writer between.
// It belongs to nobody: whoever likes may unlock.
// Memory ordering: what was done before unlock() is visible after the next lock() or lock_shared(); before unlock_shared(): after the next lock().
// It may be destroyed by whoever has had it last, also while the unlock before is still returning.
class WEFT_API shared_mutex {
 public:
  constexpr shared_mutex() noexcept = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  // To write. Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      lock_slow();
  }
  [[nodiscard]] WEFT_POINTED bool try_lock() noexcept {
    detail::lock_point();
    std::uint32_t seen = 0;
    // acquire: [shared_mutex.pass]; failed: nothing was taken
    return state_.compare_exchange_strong(seen, kWriter, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  // Fatal error "unlock of unlocked shared_mutex" if nobody writes.
  WEFT_MAY_SWITCH WEFT_POINTED void unlock() noexcept {
    detail::lock_point();
    std::uint32_t seen = kWriter;
    // release: [shared_mutex.pass]; failed: looked at again
    if (!state_.compare_exchange_strong(seen, 0, std::memory_order_release,
                                        std::memory_order_relaxed)) [[unlikely]]
      unlock_slow();
  }

  // To read. Blocks: this goroutine only (from a plain thread: that thread).
  WEFT_MAY_SWITCH void lock_shared() noexcept {
    if (!try_lock_shared()) [[unlikely]]
      lock_shared_slow();
  }
  [[nodiscard]] WEFT_POINTED bool try_lock_shared() noexcept {
    detail::lock_point();
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    while ((seen & (kWriter | kWaiting)) == 0) {
      // acquire: [shared_mutex.pass]; failed: looked at again
      if (state_.compare_exchange_weak(seen, seen + kReader, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return true;
    }
    return false;
  }
  // Fatal error "unlock_shared of unlocked shared_mutex" if nobody reads.
  WEFT_MAY_SWITCH WEFT_POINTED void unlock_shared() noexcept {
    detail::lock_point();
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    while ((seen & kWaiting) == 0 && seen >= kReader) {
      // release: [shared_mutex.pass]; failed: looked at again
      if (state_.compare_exchange_weak(seen, seen - kReader, std::memory_order_release,
                                       std::memory_order_relaxed))
        return;
    }
    unlock_shared_slow();
  }

 private:
  static constexpr std::uint32_t kWriter = 1;
  static constexpr std::uint32_t kWaiting = 2;
  static constexpr std::uint32_t kReader = 4;

  void lock_slow() noexcept;
  void unlock_slow() noexcept;
  void lock_shared_slow() noexcept;
  void unlock_shared_slow() noexcept;

  std::atomic<std::uint32_t> state_{0};  // sync/shared_mutex_core.hpp
  detail::waiters writers_;              // with the lock of both
  detail::waiter_queue readers_;
};

}  // namespace weft::inline v1
