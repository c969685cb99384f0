// guard.hpp: the faulting region below every stack, and which of two ways the kernel lets us make it.
//
//   madvise   MADV_GUARD_INSTALL, Linux 6.13: markers in the page table. No VMA per guard, so a million of them work.
//   mprotect  PROT_NONE: each guard splits the arena and costs two VMAs, so vm.max_map_count (65530 by default) ends it at about
//             30,000 stacks. The limit is kept by counting, with room left for the rest of the process: running into it would
//             make some unrelated mmap of the program fail instead of ours.
//
// Invariant
//   D1  install_guard() returns ok only after the kernel has accepted the guard, and `madvise` is chosen only after a guard was
//       seen to fault: qemu-user 7.2 answers 0 to the madvise and installs nothing.

#pragma once

#include "stack/stack.hpp"

namespace weft::stack {

enum class guard_mode : std::uint8_t { madvise, mprotect };

struct guard_result {
  int error;
  reason why;
};

// Finds out what the kernel can do and reads vm.max_map_count. Once, from init(). What is wished for and cannot be had is not
// insisted on: mprotect always works.
void choose_guard_mode(os::guard_choice wish) noexcept;

// Makes the lowest kGuardBytes of the slot fault. Thread safe. Once per slot; after an error it may be tried again.
guard_result install_guard(std::byte* slot) noexcept;

// For tests: stacks carved from now on get this kind of guard, and at most max_guards more of the mprotect kind.
void set_guard_mode_for_test(guard_mode mode, std::size_t max_guards) noexcept;
guard_mode current_guard_mode() noexcept;

// How many mprotect guards a process may have under this vm.max_map_count.
constexpr std::size_t guards_within(std::size_t max_map_count) noexcept {
  const std::size_t sixteenth = max_map_count / 16;
  const std::size_t for_the_program = sixteenth > 1024 ? sixteenth : 1024;
  return max_map_count > for_the_program ? (max_map_count - for_the_program) / 2 : 0;
}

}  // namespace weft::stack
