// scavenge.hpp: giving memory that stacks no longer need back to the system.
#pragma once

#include <cstdint>

namespace weft::sched {

// One bounded pass: stacks that nobody has used for a while, and the pages below the stack pointer of goroutines that have waited
// for long. By sysmon.
void scavenge(std::int64_t now_ns) noexcept;

// The last pass found something: another may as well.
bool has_scavenging_left() noexcept;

}  // namespace weft::sched
