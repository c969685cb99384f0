// poller.hpp: being told by the kernel what happens to descriptors: epoll, or io_uring for those who ask for it.
//
// epoll (epoll_poller.hpp) is there always. io_uring (uring_poller.hpp) must be asked for, may be missing, and has a thread of its
// own; docs/adr/0010-epoll-stays-the-default.md says why it is not the first choice.
//
// What both promise:
//   Descriptors are added once, for both directions. Each change is told once, to whoever waits at that moment, and what is there already
//   when it is added is told as well. Changes of one descriptor that nobody has been told of yet may be told together.
//   What was written before add() is visible to whoever is told.  [poll.added]
//   errno stays untouched.
//
// Which of them is used may change while nobody waits (a new runtime asks for another). What was added to the other one is to be added again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "os/epoll_poller.hpp"
#include "os/poll_event.hpp"
#include "os/uring_poller.hpp"

namespace weft::os {

class poller {
 public:
  constexpr poller() noexcept = default;

  // epoll. 0, or why it cannot be had (errno). If it is open already nothing happens. One at a time.
  int open() noexcept;
  // io_uring from now on. Starts a thread: not from goroutines.
  uring_failure open_uring() noexcept;
  // epoll again, which need not be open yet.
  void leave_uring() noexcept { is_uring_.store(false, std::memory_order_release); }
  // Acquire: it was opened before.
  bool is_uring() const noexcept { return is_uring_.load(std::memory_order_acquire); }
  // Threads that it has in this process.
  unsigned nhelpers() const noexcept { return uring_.is_open() ? 1 : 0; }

  // In the child of a fork, which has the parent's poller in common with it: gives its copy up. It can be opened again.
  void forget() noexcept;
  // Nobody uses it any more. It can be opened again.
  void close() noexcept;

  // From now on events of fd carry the cookie, which is not 0. 0, or errno: EPERM if it is of a kind that cannot be waited for, EEXIST if it was
  // added already.
  int add(int fd, std::uint64_t cookie) noexcept {
    return is_uring() ? uring_.add(fd, cookie) : epoll_.add(fd, cookie);
  }
  // No event of fd is told any more, but for those that somebody has been told and not seen to yet. Nothing here keeps its file open.
  void remove(int fd) noexcept;

  // Fills `events` with what has happened, from the front; says how many. Waits until the deadline (kNoDeadline: for ever), interrupt() or
  // the first event; with kDoNotWait not at all. It may come back with none for no reason.
  static constexpr std::int64_t kDoNotWait = os::kDoNotWait;
  std::size_t wait(std::span<poll_event> events, std::int64_t deadline_ns) noexcept {
    return is_uring() ? uring_.wait(events, deadline_ns) : epoll_.wait(events, deadline_ns);
  }

  // Somebody who waits comes back; if nobody does, the next one who would. Any thread, also under locks.
  void interrupt() noexcept { is_uring() ? uring_.interrupt() : epoll_.interrupt(); }

 private:
  epoll_poller epoll_;
  uring_poller uring_;
  std::atomic<bool> has_epoll_{false};  // acquire, both: it was opened before
  std::atomic<bool> is_uring_{false};
};

}  // namespace weft::os
