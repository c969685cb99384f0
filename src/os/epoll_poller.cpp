// epoll_poller.cpp: see epoll_poller.hpp.
#include "os/epoll_poller.hpp"

#include <linux/time_types.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>

#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/poll_bits.hpp"
#include "os/system_call.hpp"

namespace weft::os {

namespace {

constexpr std::uint64_t kInterrupted = 0;  // the cookie of the eventfd
constexpr std::size_t kBatch = 128;

constinit std::atomic<bool> has_pwait2{true};

// What the kernel says of a descriptor that is not the poller's any more.
[[noreturn, gnu::cold]] void die_of_closed(site at) noexcept {
  die_of_call(at, errno,
              "somebody has closed the poller's descriptor: numbers that a program has not opened "
              "are not its own");
}

int check_sleep(site at, long n) noexcept {
  if (n == -1 && errno != EINTR) [[unlikely]]
    die_of_closed(at);
  return static_cast<int>(n);
}

int wait_roughly(int epoll, epoll_event* into, int n, std::int64_t for_ns) noexcept {
  const std::int64_t ms = for_ns < 0 ? -1 : (for_ns + kMillisecond - 1) / kMillisecond;
  return check_sleep(site::epoll_sleep,
                     call(site::epoll_sleep, ::epoll_wait, epoll, into, n,
                          static_cast<int>(std::min<std::int64_t>(ms, INT_MAX))));  // 24 days
}

// for_ns < 0: for ever.
int wait_for(int epoll, epoll_event* into, int n, std::int64_t for_ns) noexcept {
  if (for_ns <= 0 || !has_pwait2.load(std::memory_order_relaxed))  // only remembered
    return wait_roughly(epoll, into, n, for_ns);
  const __kernel_timespec length{for_ns / kSecond, for_ns % kSecond};
  const long result = call(site::epoll_sleep_exactly, ::syscall, SYS_epoll_pwait2, epoll, into, n,
                           &length, nullptr, 0);
  // EPERM: from a sandbox that does not know the call.
  if (result != -1 || (errno != ENOSYS && errno != EPERM))
    return check_sleep(site::epoll_sleep_exactly, result);
  has_pwait2.store(false, std::memory_order_relaxed);  // only remembered
  return wait_roughly(epoll, into, n, for_ns);
}

}  // namespace

int epoll_poller::open() noexcept {
  const errno_guard guard;
  epoll_ = call(site::epoll_open, ::epoll_create1, EPOLL_CLOEXEC);
  if (epoll_ == -1) return errno;
  interrupt_ = call(site::epoll_eventfd, ::eventfd, 0u, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event e{.events = EPOLLIN, .data = {.u64 = kInterrupted}};
  if (interrupt_ != -1 &&
      call(site::epoll_add_eventfd, ::epoll_ctl, epoll_, EPOLL_CTL_ADD, interrupt_, &e) == 0)
    return 0;
  const int why = errno;
  if (interrupt_ != -1) ::close(interrupt_);
  ::close(epoll_);
  epoll_ = interrupt_ = -1;
  return why;
}

void epoll_poller::close() noexcept {
  if (!is_open()) return;
  const errno_guard guard;
  ::close(epoll_);
  ::close(interrupt_);
  epoll_ = interrupt_ = -1;
}

int epoll_poller::add(int fd, std::uint64_t cookie) noexcept {
  const errno_guard guard;
  epoll_event e{.events = kPolledChanges | EPOLLET, .data = {.u64 = cookie}};
  nadded_.fetch_add(1, std::memory_order_release);  // [poll.added]
  return call(site::epoll_add, ::epoll_ctl, epoll_, EPOLL_CTL_ADD, fd, &e) == 0 ? 0 : errno;
}

void epoll_poller::remove(int fd) noexcept {
  const errno_guard guard;
  epoll_event unused{};
  call(site::epoll_remove, ::epoll_ctl, epoll_, EPOLL_CTL_DEL, fd, &unused);
}

std::size_t epoll_poller::wait(std::span<poll_event> events, std::int64_t deadline_ns) noexcept {
  const errno_guard guard;
  epoll_event raw[kBatch];
  const int room = static_cast<int>(std::min(events.size(), kBatch));
  std::int64_t for_ns = -1;
  if (deadline_ns == kDoNotWait) {
    for_ns = 0;
  } else if (deadline_ns != kNoDeadline) {
    for_ns = std::max<std::int64_t>(deadline_ns - now_ns(), 0);
  }
  const int n = wait_for(epoll_, raw, room, for_ns);
  (void)nadded_.load(std::memory_order_acquire);  // [poll.added]
  std::size_t nfound = 0;
  for (int i = 0; i < n; ++i) {
    if (raw[i].data.u64 != kInterrupted) {
      events[nfound++] = to_poll_event(raw[i].data.u64, raw[i].events);
    } else if (deadline_ns != kDoNotWait) {  // else it is for one who waits
      std::uint64_t count;
      // EAGAIN: another one was quicker. If it is not empty now we are told again.
      if (call(site::epoll_drain, ::read, interrupt_, &count, sizeof count) == -1 &&
          errno != EAGAIN && errno != EINTR)
        die_of_closed(site::epoll_drain);
    }
  }
  return nfound;
}

void epoll_poller::interrupt() noexcept {
  const errno_guard guard;
  const std::uint64_t one = 1;
  ssize_t n;
  do n = call(site::epoll_interrupt, ::write, interrupt_, &one, sizeof one);
  while (n == -1 && errno == EINTR);
  // EAGAIN: the counter is full, and then the poller comes back anyway.
  if (n == -1 && errno != EAGAIN) [[unlikely]]
    die_of_closed(site::epoll_interrupt);
}

}  // namespace weft::os
