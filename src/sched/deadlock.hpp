// deadlock.hpp: noticing that nobody can ever run again.
#pragma once

namespace weft::sched {

// Called by sysmon when all has been idle for a while. If nobody is left who could wake anybody, it reports and ends the process.
// True: somebody could (a thread that is not weft's, one inside blocking(), one on its way to sleep), so look again later.
bool check_deadlock() noexcept;

}  // namespace weft::sched
