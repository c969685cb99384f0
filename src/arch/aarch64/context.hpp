// aarch64/context.hpp: the context switch for aarch64 (AAPCS64).
#pragma once

#include <cstdint>

namespace weft::arch {

struct context {
  void* sp;
  void* fp;
  void* pc;
};

extern "C" void weft_context_entry() noexcept;

// x29 cannot be named as clobbered, so it travels in the context. x18, which some platforms keep for themselves, is an
// ordinary register on Linux, and gcc does keep values in it. `hint #36` is `bti j`, a no-op where branch target
// identification is off. The jump goes through x16, which a `bti c` would accept as well.
[[gnu::always_inline]] inline void switch_context(context* from, const context* to) noexcept {
  register context* f asm("x0") = from;
  register const context* t asm("x1") = to;
  asm volatile(
      "adr x2, 1f\n\t"
      "mov x3, sp\n\t"
      "stp x3, x29, [x0]\n\t"
      "str x2, [x0, #16]\n\t"
      "ldp x3, x29, [x1]\n\t"
      "ldr x16, [x1, #16]\n\t"
      "mov sp, x3\n\t"
      "br x16\n"
      "1:\n\t"
      "hint #36"
      : "+r"(f), "+r"(t)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
        "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
        "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
        "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}

// See context.hpp. In assembly, so that no compiler and no sanitizer takes it for a look that must not be late.
template <class T>
[[gnu::always_inline]] inline std::uintptr_t peek(T* const& pointer) noexcept {
  std::uintptr_t value;
  asm volatile("ldr %0, %1" : "=r"(value) : "m"(pointer));
  return value;
}

inline void make_context(context* c, void* top, void (*entry)(void*), void* arg) noexcept {
  auto** slot = static_cast<void**>(top) - 2;
  slot[0] = reinterpret_cast<void*>(entry);
  slot[1] = arg;
  c->sp = slot;
  c->fp = nullptr;
  c->pc = reinterpret_cast<void*>(&weft_context_entry);
}

// FPCR: rounding mode, flush-to-zero, trapped exceptions.
struct fp_control {
  std::uint64_t fpcr;

  friend bool operator==(const fp_control&, const fp_control&) = default;
};

inline void save_fp_control(fp_control& into) noexcept {
  asm volatile("mrs %0, fpcr" : "=r"(into.fpcr));
}

inline void load_fp_control(const fp_control& c) noexcept {
  asm volatile("msr fpcr, %0" : : "r"(c.fpcr));
}

}  // namespace weft::arch
