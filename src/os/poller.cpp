// poller.cpp: see poller.hpp.
#include "os/poller.hpp"

namespace weft::os {

int poller::open() noexcept {
  if (has_epoll_.load(std::memory_order_relaxed)) return 0;  // one at a time
  const int why = epoll_.open();
  if (why == 0) has_epoll_.store(true, std::memory_order_release);  // what open() did
  return why;
}

uring_failure poller::open_uring() noexcept {
  if (!uring_.is_open()) {
    if (const uring_failure why = uring_.open(); why.error != 0) return why;
  }
  is_uring_.store(true, std::memory_order_release);  // what open() did
  return {};
}

void poller::forget() noexcept {
  epoll_.close();
  uring_.forget();
  // relaxed, both: the child has one thread
  has_epoll_.store(false, std::memory_order_relaxed);
  is_uring_.store(false, std::memory_order_relaxed);
}

void poller::close() noexcept {
  epoll_.close();
  uring_.close();
  // relaxed, both: nobody uses it
  has_epoll_.store(false, std::memory_order_relaxed);
  is_uring_.store(false, std::memory_order_relaxed);
}

// Of either: it may have been added before the other one was chosen.
void poller::remove(int fd) noexcept {
  uring_.remove(fd);
  if (has_epoll_.load(std::memory_order_acquire)) epoll_.remove(fd);  // it was opened before
}

}  // namespace weft::os
