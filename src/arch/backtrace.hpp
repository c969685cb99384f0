// backtrace.hpp: walking the calling stack by its unwind tables. Ends at a goroutine's entry.
#pragma once

namespace weft::arch {

// Calls visit(pc, arg) for each frame, innermost first, until it returns false. pc lies inside the calling instruction.
// The first use may load the unwinder; prepare_backtrace() does that beforehand, so that a crash does not have to.
using frame_visitor = bool (*)(const void* pc, void* arg);
void walk_stack(frame_visitor visit, void* arg) noexcept;
void prepare_backtrace() noexcept;

}  // namespace weft::arch
