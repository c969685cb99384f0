// sanitizer.hpp: telling AddressSanitizer and ThreadSanitizer which stack runs. Empty in ordinary builds.
//
// ASan keeps the bounds and the fake stack of the running stack; it is told before and after each switch, and for the last
// time with a null, which frees the fake stack. TSan keeps a shadow stack and a vector clock per fiber; a switch also
// orders what the two fibers did, since the scheduler's own data moves between them that way.
//
// To TSan a fiber is what owns a mutex, so it minds nothing when a goroutine unlocks on another thread than it locked on. But it knows
// deadlocks: that two are taken in either order. So a thread is made known to it as one more lock, which a goroutine has while it runs and
// gives back when it stops (take_thread, give_thread_back). Whoever locks a std::mutex has his thread already; whoever stops with it in hand
// wants a thread while he has the mutex: both orders, and that is no fiction, since all threads may be waiting for that mutex. One lock
// stands for all threads and is taken for reading, so that it excludes nobody and orders nothing.
#pragma once

#include <cstddef>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WEFT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_TSAN 1
#endif
#endif

#if defined(WEFT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if defined(WEFT_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::arch {

#if defined(WEFT_ASAN) || defined(WEFT_TSAN)

inline constexpr bool kWantsThreadStack = true;  // adopt_thread() uses the bounds

// What the sanitizers know of one stack.
struct fiber {
  void* fake_stack = nullptr;
  const void* low = nullptr;
  std::size_t size = 0;
  void* tsan = nullptr;
#if defined(WEFT_TSAN)
  bool has_thread = false;
#endif
};

inline void adopt_thread([[maybe_unused]] fiber& f, const void* low, std::size_t size) noexcept {
  f = {nullptr, low, size, nullptr};
#if defined(WEFT_TSAN)
  f.tsan = __tsan_get_current_fiber();
#endif
}

inline void create_fiber([[maybe_unused]] fiber& f, const void* low, std::size_t size) noexcept {
  f = {nullptr, low, size, nullptr};
#if defined(WEFT_TSAN)
  f.tsan = __tsan_create_fiber(0);
#endif
}

inline void destroy_fiber([[maybe_unused]] fiber& f) noexcept {
#if defined(WEFT_TSAN)
  if (f.tsan) __tsan_destroy_fiber(f.tsan);
#endif
  f = {};
}

// Right before the switch. `dies`: the stack we leave is never returned to.
[[gnu::always_inline]] inline void start_switch([[maybe_unused]] fiber& from,
                                                [[maybe_unused]] const fiber& to,
                                                [[maybe_unused]] bool dies) noexcept {
#if defined(WEFT_ASAN)
  __sanitizer_start_switch_fiber(dies ? nullptr : &from.fake_stack, to.low, to.size);
#endif
#if defined(WEFT_TSAN)
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
}

// First thing on the stack we came to.
[[gnu::always_inline]] inline void finish_switch([[maybe_unused]] fiber& me) noexcept {
#if defined(WEFT_ASAN)
  __sanitizer_finish_switch_fiber(me.fake_stack, nullptr, nullptr);
#endif
}

#if defined(WEFT_TSAN)
inline constexpr bool kKnowsLocks = true;
inline char any_thread;  // nothing but its address

inline void take_thread(fiber& me) noexcept {
  if (std::exchange(me.has_thread, true)) return;
  __tsan_mutex_pre_lock(&any_thread, __tsan_mutex_read_lock);
  __tsan_mutex_post_lock(&any_thread, __tsan_mutex_read_lock, 0);
}
inline void give_thread_back(fiber& me) noexcept {
  if (!std::exchange(me.has_thread, false)) return;
  __tsan_mutex_pre_unlock(&any_thread, __tsan_mutex_read_lock);
  __tsan_mutex_post_unlock(&any_thread, __tsan_mutex_read_lock);
}
#endif

#else

inline constexpr bool kWantsThreadStack = false;

struct fiber {};
inline void adopt_thread(fiber&, const void*, std::size_t) noexcept {}
inline void create_fiber(fiber&, const void*, std::size_t) noexcept {}
inline void destroy_fiber(fiber&) noexcept {}
[[gnu::always_inline]] inline void start_switch(fiber&, const fiber&, bool) noexcept {}
[[gnu::always_inline]] inline void finish_switch(fiber&) noexcept {}

#endif

#if !defined(WEFT_TSAN)
inline constexpr bool kKnowsLocks = false;
inline void take_thread(fiber&) noexcept {}
inline void give_thread_back(fiber&) noexcept {}
#endif

// Frames are about to be left without their epilogues, which would have lifted ASan's marks.
inline void before_forced_unwind() noexcept {
#if defined(WEFT_ASAN)
  __asan_handle_no_return();
#endif
}

// Memory that the leak checker must scan though no thread's stack or global holds it.
inline void register_root([[maybe_unused]] const void* low,
                          [[maybe_unused]] std::size_t size) noexcept {
#if defined(WEFT_ASAN)
  __lsan_register_root_region(low, size);
#endif
}

}  // namespace weft::arch
