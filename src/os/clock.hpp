// clock.hpp: the one clock of the runtime.
#pragma once

#include <cstdint>

namespace weft::os {

// CLOCK_MONOTONIC in nanoseconds. A vDSO call: some 25 ns, no lock, no system call.
std::int64_t now_ns() noexcept;

inline constexpr std::int64_t kMicrosecond = 1'000;
inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace weft::os
