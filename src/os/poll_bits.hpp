// poll_bits.hpp: what both pollers ask the kernel for, and what its answer means. For their .cpp files: it brings in a system header.
//
// Both are told in the same bits, those of epoll(7).
#pragma once

#include <sys/epoll.h>

#include <cerrno>
#include <cstdint>

#include "os/poll_event.hpp"

namespace weft::os {

inline constexpr std::uint32_t kPolledChanges = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI;

// An error or a hang-up ends the wait for either direction: the next call finds out what it is.
inline poll_event to_poll_event(std::uint64_t cookie, std::uint32_t bits) noexcept {
  constexpr std::uint32_t kEither = EPOLLERR | EPOLLHUP;
  return {.cookie = cookie,
          .is_readable = (bits & (EPOLLIN | EPOLLRDHUP | EPOLLPRI | kEither)) != 0,
          .is_writable = (bits & (EPOLLOUT | kEither)) != 0,
          .is_unusual = (bits & (EPOLLRDHUP | EPOLLPRI | kEither)) != 0};
}

// errno stays the program's own.
class errno_guard {
 public:
  errno_guard() noexcept : saved_(errno) {}
  ~errno_guard() { errno = saved_; }
  errno_guard(const errno_guard&) = delete;
  errno_guard& operator=(const errno_guard&) = delete;

 private:
  int saved_;
};

}  // namespace weft::os
