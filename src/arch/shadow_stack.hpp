// shadow_stack.hpp: whether the CPU keeps a second stack of return addresses for this thread (Intel CET, Arm GCS).
//
// A switch to another stack leaves that one behind, and the first return afterwards kills the process. Weft's objects say that they do not go
// with it, so the loader leaves it off in programs that link weft; a plugin in a program that has it on, or one forced on, finds it on.
//
// Asked of the CPU and not of the kernel: one instruction, which does nothing where the feature is unknown or off, so there is no call that
// may be missing, refused by a sandbox or not known to an emulator.
#pragma once

#include <cstdint>

namespace weft::arch {

// Not zero: the calling thread has one.
inline std::uintptr_t shadow_stack_of_thread() noexcept {
#if defined(__x86_64__)
  std::uintptr_t pointer = 0;
  asm volatile("rdsspq %0" : "+r"(pointer));
  return pointer;
#elif defined(__aarch64__)
  // chkfeat x16, under the name by which every assembler knows it: clears the bits of features that are on.
  register std::uintptr_t features asm("x16") = 1;
  asm volatile("hint #40" : "+r"(features));
  return features ^ 1;
#endif
}

// Null, or why no runtime can be started on a thread with this shadow stack, and what to do.
constexpr const char* explain_shadow_stack(std::uintptr_t pointer) noexcept {
  if (pointer == 0) return nullptr;
  return "weft: this thread has a shadow stack, which goroutines cannot have: switch it off with "
#if defined(__x86_64__)
         "GLIBC_TUNABLES=glibc.cpu.x86_shstk=off in the environment, or build the program with "
         "-fcf-protection=branch";
#else
         "GLIBC_TUNABLES=glibc.cpu.aarch64_gcs=0 in the environment, or build the program with "
         "-mbranch-protection=bti";
#endif
}

}  // namespace weft::arch
