// atomics.hpp: the facade through which every protocol of weft reaches its atomics.
//
// Each protocol (run queue, note, detach handshake, event, ...) is a template over a policy like std_atomics. The
// library instantiates it with this one; the model tests instantiate the same source with atomics that an explorer
// controls. A policy has: atomic<T>, pause(), and (os::futex_atomics) wait(), wake() and nap(), replace_alone() and
// restart_others().
#pragma once

#include <atomic>
#include <cstddef>

namespace weft::base {

struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  // Tells the CPU that this is a spin loop.
  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::
                     : "memory");  // unlike `yield`, it does wait a little on the cores that matter
#endif
  }
};

// Two fields further apart than this never share a cache line, nor a pair that the prefetcher fetches together.
inline constexpr std::size_t kCacheLine = 64;

// Stops the compiler, not the CPU. Where one side of a handshake pays with membarrier(2), the other needs only this.
inline void compiler_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

// For a field with one writer that others may look at: no read-modify-write, just no torn reads.
template <class T, class D>
inline void add_by_owner(std::atomic<T>& counter, D n) noexcept {
  counter.store(static_cast<T>(counter.load(std::memory_order_relaxed) + n),
                std::memory_order_relaxed);  // one writer: no increment is lost
}

// A field that its owner reads and writes like any other, and that others may look at: what they see may be old, and is never torn.
template <class T>
class relaxed {
 public:
  constexpr relaxed(T value = {}) noexcept : value_(value) {}
  relaxed& operator=(T value) noexcept {
    value_.store(value, std::memory_order_relaxed);  // guards nothing
    return *this;
  }
  relaxed(const relaxed&) = delete;
  relaxed& operator=(const relaxed& other) noexcept { return *this = T(other); }
  operator T() const noexcept { return value_.load(std::memory_order_relaxed); }  // guards nothing

 private:
  std::atomic<T> value_;
};

}  // namespace weft::base
