// vm_tools.cpp: see vm_tools.hpp. Valgrind's header is used where the build machine has it.

#include "os/vm_tools.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_VM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_VM_ASAN 1
#endif
#endif

#if defined(WEFT_VM_ASAN)
#include <sanitizer/asan_interface.h>
#endif

#if __has_include(<valgrind/valgrind.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // its requests are statement expressions
#include <valgrind/valgrind.h>
#define WEFT_VM_VALGRIND 1
#endif

namespace weft::os {

bool is_on_valgrind() noexcept {
#if defined(WEFT_VM_VALGRIND)
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

void register_stack([[maybe_unused]] std::byte* lo, [[maybe_unused]] std::byte* hi) noexcept {
#if defined(WEFT_VM_VALGRIND)
  static_cast<void>(VALGRIND_STACK_REGISTER(lo, hi));
#endif
}

void unpoison([[maybe_unused]] std::byte* base, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(WEFT_VM_ASAN)
  __asan_unpoison_memory_region(base, bytes);
#endif
}

}  // namespace weft::os

#if defined(WEFT_VM_VALGRIND)
#pragma GCC diagnostic pop
#endif
