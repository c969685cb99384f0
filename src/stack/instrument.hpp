// instrument.hpp: what sanitizers and Valgrind must be told about stacks, and what they need larger or smaller.
//
// The calls themselves are in os/vm_tools.cpp and cost next to nothing in an ordinary build.

#pragma once

#include <cstddef>

#include "stack/stack.hpp"

namespace weft::stack {

// For a slot that is carved: memcheck then takes a jump of the stack pointer into it for a change of stacks, not for a huge frame.
// Never undone, since slots live as long as the process.
void announce_stack(std::byte* lo, std::byte* hi) noexcept;

// For a stack that becomes free. A goroutine that ended by unwinding or exit_goroutine leaves AddressSanitizer's red zones of
// frames that never returned; the next one would trip over them.
void forget_frames(head* stack) noexcept;

// The largest segment to reserve. TSan and memcheck keep books of every mapping: memcheck takes 3 s for 1 GiB of it.
std::size_t instrumented_segment_bytes() noexcept;

// What a default stack has: more where the library, or one of its users (weft/detail/frames.hpp), was compiled without optimisation or with a
// sanitizer.
std::size_t expected_bytes() noexcept;

}  // namespace weft::stack
