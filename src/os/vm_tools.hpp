// vm_tools.hpp: telling memory checkers what becomes of a piece of memory. Nothing in an ordinary run.

#pragma once

#include <cstddef>

namespace weft::os {

bool is_on_valgrind() noexcept;

// The range is a stack from now on: memcheck then takes a jump of the stack pointer into it for a change of stacks, not for a
// frame of gigabytes.
void register_stack(std::byte* lo, std::byte* hi) noexcept;

// AddressSanitizer forgets every red zone in the range.
void unpoison(std::byte* base, std::size_t bytes) noexcept;

}  // namespace weft::os
