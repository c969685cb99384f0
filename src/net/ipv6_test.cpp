// ipv6_test.cpp: whether IPv6 works is what a socket says.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/ipv6.hpp"

namespace {

bool can_listen_on_loopback() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_addr = in6addr_loopback;
  const bool can =
      ::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 && ::listen(fd, 1) == 0;
  ::close(fd);
  return can;
}

// First, since an answer is kept: without descriptors there is no answer to keep.
TEST(ipv6, is_tried_again_after_a_shortage_of_descriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  weft::networks::ipv6_works();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(weft::networks::ipv6_works(), can_listen_on_loopback());
  EXPECT_EQ(weft::networks::ipv6_works(), can_listen_on_loopback());
}

}  // namespace
