// sysmon.hpp: the thread that watches over the others.
#pragma once

namespace weft::sched {

// Its whole life. It has no M and no P, runs no user code, and waits for no lock outside weft.
void sysmon_main(void*) noexcept;

}  // namespace weft::sched
