// thread_tuning.hpp: how soon the kernel runs a thread that has something to do.
//
// The thread that waits for timers runs the goroutine it wakes up for. Two habits of the kernel make it late: it rounds
// sleeps up by 50 us to save power (timer slack), and on a busy CPU it lets the thread that computes finish its slice of
// some 3 ms. Both can be set per thread; a thread with a short slice is let in sooner, and gets no more CPU for it.
//
// All of it concerns the calling thread, is a hint, and does no harm where the kernel knows nothing of it. Threads that this
// thread makes afterwards inherit both. No malloc, no lock; errno is kept.
#pragma once

#include <cstdint>

namespace weft::os {

// Sleeps end at most this much late; 1 is as good as none (0 would mean the default). False: not allowed here.
bool set_timer_slack_ns(std::uint64_t ns) noexcept;
std::uint64_t timer_slack_ns() noexcept;  // 0: unknown

inline constexpr std::uint64_t kShortSliceNs = 100'000;  // the least that the kernel takes

// Asks for kShortSliceNs. Linux 6.12 knows what that is, an older kernel says yes and does nothing. Nice value and policy stay;
// a thread that is not SCHED_OTHER (real time, batch, idle) was set so by somebody, and is left alone. False: not asked.
bool set_short_slice() noexcept;
std::uint64_t slice_ns() noexcept;  // 0: unknown, as before Linux 6.12

}  // namespace weft::os
