// deadlock.hpp: noticing that nobody can ever run again.
#pragma once

namespace weft::sched {

enum class liveness {
  alive,      // something runs, or may begin to by itself
  undecided,  // all goroutines wait, but a thread that is not weft's could wake them: look again later
};

// Called by sysmon when all has been idle for a while. If nobody is left who could wake anybody, it reports and ends the process.
liveness check_deadlock() noexcept;

}  // namespace weft::sched
