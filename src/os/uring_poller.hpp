// uring_poller.hpp: a poller on io_uring. What the functions promise stands in poller.hpp.
//
// What the kernel does (each of these was tried on Linux 6.18 before it was built upon, and has a test in uring_poller_test.cpp):
//   1  What is left to do for a poll when something happens is done by the thread that submitted it, which is interrupted for that: an
//      epoll_wait or poll of the user's on that thread comes back with EINTR. IORING_SETUP_COOP_TASKRUN changes nothing about that for
//      one that sleeps. And when that thread ends its polls end. So no thread that runs goroutines may submit one.
//   2  A poll holds a reference to the file: closing the number closes nothing (the partner sees no end, the port stays taken) until
//      the poll has ended and its submitter has been back in the kernel. What a process leaves to its own end is closed a moment after it.
//   3  It polls anything: a regular file, which epoll refuses with EPERM, is always ready.
//   4  A multishot poll ends now and then (uring.hpp), when the queue of completions is full for instance.
//   5  SQPOLL keeps a processor busy for at least a millisecond after each event. DEFER_TASKRUN interrupts nobody, but wants one thread to submit,
//      wait and take.
//
// So there is one such thread, the helper, "weft-uring": it alone has to do with the ring (uring.hpp), sleeps in it, and runs no code of the user's.
//   To it    add() and remove() say in the descriptor's slot what they want (uring_slots.hpp) and wake it by an eventfd that it polls
//            like the others.
//   From it  what it is told goes into a queue in memory (uring_news.hpp), where others take it or sleep on a futex. Asking in passing
//            costs no system call, and an interruption is a wake-up of a futex.
// add() does not wait for it: what is there when it gets round to submitting is told then. remove() does, by 2; so after it the caller may
// close the number and bind its address again.
//
// Rejected: several threads that take from one ring, with the helper only submitting. Each event wakes the helper all the same (1, 2), and
// the ring would have to be locked, waited on with a time limit, looked at for what has overflowed, and told from interruptions.
//
// A wish that the kernel cannot fulfil (no memory for a poll) is told as a change of everything, so that whoever waits tries, and submitted again after a
// millisecond.
//
// The helper lives as long as the process, or until close(), as epoll's descriptor does; a runtime that ends leaves it asleep. In the child of a
// fork there is none: forget().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "os/poll_event.hpp"
#include "os/thread.hpp"
#include "os/uring.hpp"
#include "os/uring_news.hpp"
#include "os/uring_slots.hpp"

namespace weft::os {

class uring_poller {
 public:
  static constexpr unsigned kSubmissions = 128;
  static constexpr unsigned kCompletions = 2048;

  constexpr uring_poller() noexcept = default;

  // Starts the helper. The sizes of the ring are for tests.
  uring_failure open(unsigned nsubmissions = kSubmissions,
                     unsigned ncompletions = kCompletions) noexcept;
  // Acquire: what open() did.
  bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }
  // Nobody uses it any more.
  void close() noexcept;
  // In the child of a fork: the ring, which it has in common with its parent, is left alone.
  void forget() noexcept;

  int add(int fd, std::uint64_t cookie) noexcept;
  void remove(int fd) noexcept;
  std::size_t wait(std::span<poll_event> events, std::int64_t deadline_ns) noexcept {
    return news_.wait(events, deadline_ns);
  }
  void interrupt() noexcept { news_.interrupt(); }

 private:
  enum : std::uint32_t { kStarting, kRunning, kFailed };

  uring_failure make() noexcept;
  void free() noexcept;
  int check_kind(int fd) noexcept;
  void wish(uring_slot* slot) noexcept;
  void kick() noexcept;

  // The helper's:
  static void helper_main(void* self) noexcept;
  void help() noexcept;
  void arm_kick() noexcept;
  void fulfil(uring_slot* slot) noexcept;
  void end(uring_slot* slot) noexcept;
  void hear(const uring::completion& c) noexcept;
  void pass_on() noexcept;

  uring_slots slots_;
  uring_news news_;
  std::atomic<bool> is_open_{false};
  std::atomic<bool> is_ending_{false};
  std::atomic<std::uint32_t> stage_{kStarting};  // a futex word, for open()
  int kick_ = -1;                                // an eventfd
  int judge_ = -1;                               // an epoll that says which kinds can be waited for
  thread helper_;

  // The helper's, after open():
  uring ring_;
  unsigned nsubmissions_ = 0;
  unsigned ncompletions_ = 0;
  uring_failure why_;                         // before kFailed
  std::array<uring_news::item, 64> heard_{};  // and not passed on yet
  std::size_t nheard_ = 0;
  bool is_kick_armed_ = false;
  bool must_pause_ = false;  // something failed that is tried again
};

}  // namespace weft::os
