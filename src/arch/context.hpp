// context.hpp: leaving one stack and going on with another.
//
// The switch is inline and ends in an indirect jump. A called switch that ends in `ret` costs ten times as much: the return
// predictor expects the caller, not another stack. Being inline, it names every register as clobbered and the compiler
// saves exactly those that are live at that place, mostly none.
//
// What a port supplies (x86_64/, aarch64/):
//   struct context                          stack pointer, frame pointer, address to go on at
//   switch_context(from, to)                saves here into *from, goes on at *to; returns when someone switches back
//   make_context(c, top, entry, arg)        a context that calls entry(arg) on an empty stack; entry never returns
//   peek(pointer)                           what a pointer holds, perhaps while somebody else changes it: a hint
//   struct fp_control, save/load            the floating-point control words the ABI calls callee-saved
//
// Not switched, since they belong to the thread: the signal mask, thread_local variables, the alternate signal stack.
// Shadow stacks (SHSTK) are not supported, so weft is built with -fcf-protection=branch and does not advertise them.
#pragma once

#if defined(__x86_64__)
#include "arch/x86_64/context.hpp"
#elif defined(__aarch64__)
#include "arch/aarch64/context.hpp"
#else
#error "weft runs on x86-64 and aarch64"
#endif

#include <cstdint>
#include <type_traits>

namespace weft::arch {

static_assert(std::is_trivial_v<context> && sizeof(context) == 24, "part of G's hot cache line");
static_assert(sizeof(fp_control) == 8, "part of G's hot cache line");

inline fp_control current_fp_control() noexcept {
  fp_control now{};
  save_fp_control(now);
  return now;
}

// Asks for what a switch to *c, and the first calls after it, touch of its stack. Only a hint: it may have gone on, or ended, meanwhile.
[[gnu::always_inline]] inline void prefetch_stack(const context* c) noexcept {
  constexpr std::uintptr_t kLine = 64;
  const std::uintptr_t sp = peek(c->sp);  // a number: there may be no stack at all
  for (std::uintptr_t at = sp - kLine; at != sp + 3 * kLine; at += kLine)
    __builtin_prefetch(reinterpret_cast<const void*>(at), 1);
}

// Asks for what the pointer leads to. Only a hint, as above.
template <class T>
[[gnu::always_inline]] inline void prefetch_there(T* const& pointer) noexcept {
  __builtin_prefetch(reinterpret_cast<const void*>(peek(pointer)), 1);
}

using entry_function = void (*)(void* arg);

// Where every goroutine begins: takes entry and arg off the stack and calls. Its unwind table says that nothing lies
// below, so debuggers and the C++ unwinder end there, and names weft_entry_personality, through which an exception that
// nobody catches is seen before the stack is unwound.
extern "C" void weft_context_entry() noexcept;

}  // namespace weft::arch
