// epoll_poller.hpp: the usual poller: epoll, and an eventfd that interrupts it. What the functions promise stands in poller.hpp.
//
// Descriptors are added once, for both directions and edge-triggered: the kernel tells each change once, to whoever waits at that moment.
// So nothing is asked of it before and after each wait; whoever is told remembers it (rt/poll_word.hpp).
//
// Waits are exact to the microsecond (epoll_pwait2, Linux 5.11); where that is missing they are rounded up to the millisecond.
//
// Edges
//   [poll.added]  add: nadded_ release  ->  wait: nadded_ acquire
// By the kernel nobody is told of a descriptor before it was added; the counter says so in C++'s own terms.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "os/poll_event.hpp"

namespace weft::os {

class epoll_poller {
 public:
  constexpr epoll_poller() noexcept = default;

  int open() noexcept;
  void close() noexcept;
  bool is_open() const noexcept { return epoll_ != -1; }

  int add(int fd, std::uint64_t cookie) noexcept;
  void remove(int fd) noexcept;
  std::size_t wait(std::span<poll_event> events, std::int64_t deadline_ns) noexcept;
  void interrupt() noexcept;

 private:
  int epoll_ = -1;
  int interrupt_ = -1;  // an eventfd
  std::atomic<std::uint32_t> nadded_{0};
};

}  // namespace weft::os
