// x86_64/context.hpp: the context switch for x86-64 (System V ABI).
#pragma once

#include <cstdint>

namespace weft::arch {

struct context {
  void* sp;
  void* fp;
  void* pc;
};

extern "C" void weft_context_entry() noexcept;

// Nothing is pushed: the function this is inlined into may keep data in the red zone below its stack pointer.
// The landing pad is a no-op where IBT is off. rbp cannot be named as clobbered, so it travels in the context.
[[gnu::always_inline]] inline void switch_context(context* from, const context* to) noexcept {
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, 0(%0)\n\t"
      "movq %%rbp, 8(%0)\n\t"
      "movq %%rax, 16(%0)\n\t"
      "movq 0(%1), %%rsp\n\t"
      "movq 8(%1), %%rbp\n\t"
      "jmpq *16(%1)\n"
      "1:\n\t"
      "endbr64"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
        "cc", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "xmm0", "xmm1",
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15"
#if defined(__AVX512F__)
        ,
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
        "k7"
#endif
  );
}

// See context.hpp. In assembly, so that no compiler and no sanitizer takes it for a look that must not be late.
template <class T>
[[gnu::always_inline]] inline std::uintptr_t peek(T* const& pointer) noexcept {
  std::uintptr_t value;
  asm volatile("movq %1, %0" : "=r"(value) : "m"(pointer));
  return value;
}

// `top` is 16-byte aligned. The entry pops both words, so entry(arg) is called with an aligned stack.
inline void make_context(context* c, void* top, void (*entry)(void*), void* arg) noexcept {
  auto** slot = static_cast<void**>(top) - 2;
  slot[0] = reinterpret_cast<void*>(entry);
  slot[1] = arg;
  c->sp = slot;
  c->fp = nullptr;  // ends the chain of frame pointers
  c->pc = reinterpret_cast<void*>(&weft_context_entry);
}

// Rounding, exception masks and precision: MXCSR and the x87 control word. Each is stored and compared by itself: a load that
// spans two stores just made waits for both. Storing is cheap, loading MXCSR is not, so it is loaded only when it changes.
// The sticky exception flags in MXCSR are not control bits: they stay with the thread.
struct fp_control {
  static constexpr std::uint32_t kStickyFlags = 0x3F;

  std::uint32_t mxcsr;
  std::uint16_t x87;

  friend bool operator==(const fp_control& a, const fp_control& b) noexcept {
    return (((a.mxcsr ^ b.mxcsr) & ~kStickyFlags) | static_cast<std::uint32_t>(a.x87 ^ b.x87)) == 0;
  }
};

[[gnu::always_inline]] inline void save_fp_control(fp_control& into) noexcept {
  asm volatile("stmxcsr %0" : "=m"(into.mxcsr));
  asm volatile("fnstcw %0" : "=m"(into.x87));
}

inline void load_fp_control(const fp_control& c) noexcept {
  std::uint32_t current;
  asm volatile("stmxcsr %0" : "=m"(current));
  const std::uint32_t mxcsr =
      (c.mxcsr & ~fp_control::kStickyFlags) | (current & fp_control::kStickyFlags);
  asm volatile("ldmxcsr %0" : : "m"(mxcsr));
  asm volatile("fldcw %0" : : "m"(c.x87));
}

}  // namespace weft::arch
