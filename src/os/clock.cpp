// clock.cpp: see clock.hpp.
#include "os/clock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "os/system_call.hpp"

namespace weft::os {

std::int64_t now_ns() noexcept {
  timespec now{};
  call(site::clock_now, ::clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * kSecond + now.tv_nsec;
}

void sleep_until(std::int64_t deadline_ns) noexcept {
  if (deadline_ns <= 0) return;
  const int saved = errno;
  timespec deadline{};
  deadline.tv_sec = static_cast<std::time_t>(deadline_ns / kSecond);
  deadline.tv_nsec = static_cast<long>(deadline_ns % kSecond);
  // Not libc's: that is a cancellation point and may be somebody else's. Absolute, so a signal costs no time.
  while (call(site::clock_sleep, ::syscall, SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME,
              &deadline, nullptr) != 0 &&
         errno == EINTR) {
  }
  errno = saved;
}

}  // namespace weft::os
