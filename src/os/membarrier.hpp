// membarrier.hpp: a full barrier on every CPU that runs this process, paid by one side.
//
// A handshake "store mine, look at yours" needs a full barrier on both sides. Entering the runtime is the hot side and
// gets by with a plain store and a plain load; the rare side calls heavy_barrier(), after which every other thread has
// either made its store visible or has not yet done its load. Costs 0.2 us, or 13 us when another CPU runs us.
#pragma once

#include "os/call_sites.hpp"

namespace weft::os {

// Registers the process. False: this kernel has no expedited membarrier (or `wanted` is false); then the hot side
// must use a real fence.
bool init_membarrier(bool wanted) noexcept;

void heavy_barrier() noexcept;

// One that the process is registered for: `command` is one of <linux/membarrier.h>. Refused: the process ends, naming `where`.
void call_barrier(site where, int command) noexcept;

}  // namespace weft::os
