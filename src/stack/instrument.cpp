// instrument.cpp: see instrument.hpp.

#include "stack/instrument.hpp"

#include <cstdint>

#include "os/vm_tools.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_STACK_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define WEFT_STACK_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_STACK_ASAN 1
#elif __has_feature(thread_sanitizer)
#define WEFT_STACK_TSAN 1
#endif
#endif

namespace weft::stack {

void announce_stack(std::byte* lo, std::byte* hi) noexcept { os::register_stack(lo, hi); }

void forget_frames(head* stack) noexcept { os::unpoison(stack->lo, stack->usable()); }

std::size_t instrumented_segment_bytes() noexcept {
#if defined(WEFT_STACK_TSAN)
  return std::size_t{4} << 30;
#else
  return os::is_on_valgrind() ? std::size_t{64} << 20 : SIZE_MAX;
#endif
}

std::size_t build_default_bytes() noexcept {
#if defined(WEFT_STACK_ASAN)
  return (std::size_t{1} << 20) - kGuardBytes;
#elif defined(WEFT_STACK_TSAN) || !defined(__OPTIMIZE__)
  return (std::size_t{512} << 10) - kGuardBytes;
#else
  return kDefaultBytes;
#endif
}

}  // namespace weft::stack
