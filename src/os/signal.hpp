// signal.hpp: alternate signal stacks, and being told of faults.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::os {

// Signals of weft's threads never run on a goroutine's stack: the frame alone is 3.6 KB here and may be 11 KB, and the
// handler for an overflow needs a stack that is not the one that overflowed.
inline constexpr std::size_t kAlternateStackBytes = 64 * 1024;

// Gives this thread an alternate stack; `memory` is kept by the caller for the next thread (null: mapped now).
void use_alternate_stack(void*& memory) noexcept;
// Back to the one the thread had before.
void leave_alternate_stack(void* memory) noexcept;

// What a fault handler is told.
struct fault_info {
  int signal;
  const void* address;  // that was touched
  const void* pc;       // the instruction that did
  void* context;        // ucontext_t*
  bool is_sent;         // by kill and its kin: nothing was touched
  bool is_unclaimed;    // nobody else was there before: the process is about to die
};

// Called on the alternate stack for SIGSEGV and SIGBUS. Returns: not ours, whoever was there before shall have it.
using fault_handler = void (*)(const fault_info& fault);

// Installs the handler once; later calls do nothing. Handlers that were there before are called for what is not ours; if there
// was none, the process dies of the signal as it would without weft.
void install_fault_handler(fault_handler handler) noexcept;

// Ends the process as `signal` would: default action, dump and all.
[[noreturn]] void die_of(int signal) noexcept;
[[noreturn]] void die_of_abort() noexcept;
[[noreturn]] void exit_process(int code) noexcept;  // at once, without atexit handlers

// Calls `child` in the child of every fork from now on. Once.
void on_fork_in_child(void (*child)()) noexcept;

}  // namespace weft::os
