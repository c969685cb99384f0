// poller_fixture.hpp: what the tests of pollers share: a poller of either kind, and things to add to it.
#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "os/clock.hpp"
#include "os/environment.hpp"
#include "os/poller.hpp"

namespace weft::os::test {

inline const char* name_of(poller_choice kind) {
  return kind == poller_choice::uring ? "uring" : "epoll";
}

// Empty: it can be had.
inline std::string why_no_uring() {
  uring_poller probe;
  const uring_failure why = probe.open();
  probe.close();
  return why.error == 0 ? "" : why.what;
}

// False: the test is skipped.
#define WEFT_SKIP_WITHOUT_URING() \
  if (const std::string why = weft::os::test::why_no_uring(); !why.empty()) GTEST_SKIP() << why

struct sockets {
  std::array<int, 2> fd{-1, -1};
  sockets() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fd.data()), 0);
  }
  sockets(const sockets&) = delete;
  sockets& operator=(const sockets&) = delete;
  ~sockets() {
    for (const int each : fd)
      if (each != -1) ::close(each);
  }
  void close(std::size_t i) {
    ::close(fd[i]);
    fd[i] = -1;
  }
};

// Poller: os::poller, os::uring_poller.
template <class Poller>
class watched {
 public:
  Poller* operator->() { return &p_; }
  Poller& operator*() { return p_; }
  ~watched() { p_.close(); }

  // All that happened before is told to whoever asks from now on. With epoll that is always so. With io_uring the helper sees to the first
  // of these in one round at the end of which it has asked the kernel, and to the second in a later one.
  void settle() {
    const sockets s;
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(p_.add(s.fd[0], kNobody), 0);
      p_.remove(s.fd[0]);
    }
  }

  // Of all that is told now, what has this cookie, all together.
  poll_event told(std::uint64_t cookie) {
    settle();
    poll_event all{.cookie = 0, .is_readable = false, .is_writable = false, .is_unusual = false};
    std::array<poll_event, 8> events{};
    while (const std::size_t n = p_.wait(events, kDoNotWait)) {
      for (std::size_t i = 0; i < n; ++i) {
        if (events[i].cookie != cookie) continue;
        all.cookie = cookie;
        all.is_readable |= events[i].is_readable;
        all.is_writable |= events[i].is_writable;
        all.is_unusual |= events[i].is_unusual;
      }
    }
    return all;
  }
  std::size_t wait(std::int64_t deadline_ns) {
    std::array<poll_event, 8> events{};
    return p_.wait(events, deadline_ns);
  }

 private:
  static constexpr std::uint64_t kNobody = 0xffff;
  Poller p_;
};

}  // namespace weft::os::test
