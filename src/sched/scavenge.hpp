// scavenge.hpp: giving memory that stacks no longer need back to the system.
#pragma once

#include <cstdint>

namespace weft::sched {

// How long a goroutine has waited, at least, when its stack is looked at; twice that at most.
inline constexpr std::int64_t kLongWaitNs = 10'000'000'000;

// One bounded pass: stacks that nobody has used for a while, and the pages below the stack pointer of goroutines that have waited
// for long. By sysmon.
void scavenge(std::int64_t now_ns) noexcept;

// When the next pass is worth being awake for; os::kNoDeadline: when others are, soon enough.
std::int64_t next_scavenge_ns() noexcept;

}  // namespace weft::sched
