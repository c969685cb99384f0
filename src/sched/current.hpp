// current.hpp: who runs here.
//
// A goroutine may go on on another thread after any call that switches, and compilers keep the addresses of thread_local
// variables across calls. So the one thread-local of the runtime is read by an `asm volatile` that the compiler can neither
// keep nor move over a switch. Never store the result across a switch; ask again.
#pragma once

#include "rt/m.hpp"

namespace weft::sched {

using rt::M;

// Null on threads that are not weft's. Initial-exec: one load through the thread pointer, also in a shared library.
extern "C" {
[[gnu::visibility("hidden"),
  gnu::tls_model("initial-exec")]] extern constinit thread_local M* weft_tls_m;
}

[[gnu::always_inline]] inline M* current_m() noexcept {
  M* mp;
#if defined(__x86_64__)
  asm volatile(
      "movq weft_tls_m@gottpoff(%%rip), %0\n\t"
      "movq %%fs:(%0), %0"
      : "=r"(mp));
#elif defined(__aarch64__)
  M** offset;
  asm volatile(
      "adrp %1, :gottprel:weft_tls_m\n\t"
      "ldr %1, [%1, #:gottprel_lo12:weft_tls_m]\n\t"
      "mrs %0, tpidr_el0\n\t"
      "ldr %0, [%0, %1]"
      : "=&r"(mp), "=&r"(offset));
#endif
  return mp;
}

void set_current_m(M* mp) noexcept;

}  // namespace weft::sched
