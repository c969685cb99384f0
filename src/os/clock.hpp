// clock.hpp: the one clock of the runtime.
#pragma once

#include <cstdint>

namespace weft::os {

// CLOCK_MONOTONIC in nanoseconds. A vDSO call: some 25 ns, no lock, no system call.
std::int64_t now_ns() noexcept;

// Puts the calling thread to sleep until then (CLOCK_MONOTONIC); at once if that has passed. Signals do not end it. For
// threads that run no goroutines; how exact it is, the thread's timer slack says (thread_tuning.hpp).
void sleep_until(std::int64_t deadline_ns) noexcept;

inline constexpr std::int64_t kMicrosecond = 1'000;
inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace weft::os
