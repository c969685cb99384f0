// futex.cpp: the two futex operations and a nap, by raw system call (glibc has no wrapper, and errno stays untouched for users).
#include "os/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "os/clock.hpp"
#include "os/system_call.hpp"

namespace weft::os {

namespace {

// The kernel reads the word itself; the C++ object is its address.
const std::uint32_t* address(const std::atomic<std::uint32_t>& word) noexcept {
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
  return reinterpret_cast<const std::uint32_t*>(&word);
}

}  // namespace

bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t deadline_ns) noexcept {
  const int saved = errno;
  timespec deadline{};
  if (deadline_ns != kNoDeadline) {
    deadline.tv_sec = static_cast<std::time_t>(deadline_ns / 1'000'000'000);
    deadline.tv_nsec = static_cast<long>(deadline_ns % 1'000'000'000);
  }
  // WAIT_BITSET takes an absolute time; plain WAIT would take a relative one.
  const long result = call(
      site::futex_wait, ::syscall, SYS_futex, address(word), FUTEX_WAIT_BITSET_PRIVATE, expected,
      deadline_ns == kNoDeadline ? nullptr : &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
  bool timed_out = result == -1 && errno == ETIMEDOUT;
  // However often it is interrupted, or if it is forbidden: callers loop, and the deadline holds.
  if (result == -1 && errno != ETIMEDOUT && deadline_ns != kNoDeadline) [[unlikely]]
    timed_out = now_ns() >= deadline_ns;
  errno = saved;
  return !timed_out;
}

void futex_wake(const std::atomic<std::uint32_t>& word, int count) noexcept {
  const int saved = errno;
  long result;
  do
    result = call(site::futex_wake, ::syscall, SYS_futex, address(word), FUTEX_WAKE_PRIVATE, count,
                  nullptr, nullptr, 0);
  while (result == -1 && (errno == EINTR || errno == EAGAIN));
  // The word may be gone, and its memory be used in a way that the kernel objects to: then nobody sleeps on it.
  if (result == -1 && errno != EFAULT && errno != EINVAL) [[unlikely]]
    die_of_call(site::futex_wake, errno,
                "threads that sleep could not be woken; a sandbox must allow it");
  errno = saved;
}

void nap(std::int64_t ns) noexcept {
  const int saved = errno;
  const timespec length{static_cast<std::time_t>(ns / 1'000'000'000),
                        static_cast<long>(ns % 1'000'000'000)};
  call(site::nap, ::syscall, SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &length, nullptr);
  errno = saved;
}

}  // namespace weft::os
