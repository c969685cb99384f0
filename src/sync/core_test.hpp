// core_test.hpp: those who wait, for tests of protocols without parking.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "os/futex.hpp"
#include "os/lock.hpp"

namespace weft::sync::test {

// Somebody who waits: a number, how often it was woken, and whether its runtime has ended.
struct party {
  int id = 0;
  std::atomic<int> nwoken{0};
  bool is_left_behind = false;

  // For races: waits until it was woken n times in all.
  void await(int n) const {
    while (nwoken.load() < n) std::this_thread::yield();
  }
};

struct parties {
  static inline std::uint32_t now = 1;
  static bool is_gone(const party* p) noexcept { return p->is_left_behind; }
  static std::uint32_t epoch() noexcept { return now; }
};

// What the user's object holds.
struct room {
  os::lock<os::lock_rank::waiters> guard;
  void* first = nullptr;
  void* last = nullptr;
};

// For what must not have happened yet when the queue's lock is freed: whoever gets in then may destroy the object, and the lock with it.
struct watched_unlock : os::futex_atomics {
  static inline void (*before)(void*) = nullptr;
  static inline void* arg = nullptr;

  template <class T>
  struct atomic : std::atomic<T> {
    using std::atomic<T>::atomic;
    void store(T value, std::memory_order order) noexcept {
      // Of all words of 32 bits only a lock is set to 0 with release.
      const bool is_unlock = sizeof(T) == 4 && value == 0 && order == std::memory_order_release;
      if (is_unlock && before != nullptr) before(arg);
      std::atomic<T>::store(value, order);
    }
  };

  template <class F>
  static void watch(F& look) {
    arg = &look;
    before = [](void* f) { (*static_cast<F*>(f))(); };
  }
  static void stop() { before = nullptr; }
};

inline const auto wake = [](party* p) { ++p->nwoken; };

}  // namespace weft::sync::test
