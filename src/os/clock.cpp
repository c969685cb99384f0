// clock.cpp: see clock.hpp.
#include "os/clock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>

#include "os/futex.hpp"
#include "os/system_call.hpp"

namespace weft::os {

std::int64_t now_ns() noexcept {
  timespec now{};
  if (call(site::clock_now, ::clock_gettime, CLOCK_MONOTONIC, &now) != 0) [[unlikely]]
    die_of_call(site::clock_now, errno, "without the monotonic clock no timer would ever fire");
  return static_cast<std::int64_t>(now.tv_sec) * kSecond + now.tv_nsec;
}

void sleep_until(std::int64_t deadline_ns) noexcept {
  if (deadline_ns <= 0) return;
  const int saved = errno;
  timespec deadline{};
  deadline.tv_sec = static_cast<std::time_t>(deadline_ns / kSecond);
  deadline.tv_nsec = static_cast<long>(deadline_ns % kSecond);
  // Not libc's: that is a cancellation point and may be somebody else's. Absolute, so a signal costs no time.
  long result;
  do
    result = call(site::clock_sleep, ::syscall, SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME,
                  &deadline, nullptr);
  while (result != 0 && errno == EINTR && now_ns() < deadline_ns);
  // A sandbox that forbids it does not forbid this.
  const std::atomic<std::uint32_t> never{0};
  while (result != 0 && now_ns() < deadline_ns) futex_wait(never, 0, deadline_ns);
  errno = saved;
}

}  // namespace weft::os
