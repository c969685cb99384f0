// exception_state.hpp: the two words in which the C++ runtime keeps, per thread, the exceptions in flight.
//
// A goroutine that parks inside a `catch` block and goes on elsewhere must find its own exceptions there, and the thread
// it left must not keep them: without the swap such a program aborts or leaks. The address of the words belongs to the
// thread and is asked for once per thread, never on a goroutine: the compiler would remember it across a switch.
#pragma once

#include <cstdint>

namespace weft::arch {

// The layout of __cxa_eh_globals is fixed by the Itanium C++ ABI.
struct exception_state {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  bool is_clear() const noexcept {
    return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) == 0;
  }
};

// This thread's own. Never inlined.
exception_state* thread_exception_state() noexcept;

}  // namespace weft::arch
