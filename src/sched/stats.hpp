// stats.hpp: counting.
#pragma once

#include <cstddef>

namespace weft::sched {

// Goroutines that were started and have not ended. Exact when nobody starts or ends one meanwhile.
std::size_t live_goroutines() noexcept;

}  // namespace weft::sched
