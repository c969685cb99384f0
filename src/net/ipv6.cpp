// ipv6.cpp: tries IPv6.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "net/ip.hpp"
#include "net/ipv6.hpp"
#include "os/system_call.hpp"

namespace weft::networks {

namespace {

enum class verdict : std::uint8_t { unknown, works, does_not };

verdict try_it() noexcept {
  const int fd = os::call(os::site::ipv6_socket, ::socket, AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno == EAFNOSUPPORT ? verdict::does_not : verdict::unknown;
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  std::memcpy(&at.sin6_addr, kLoopback6, sizeof kLoopback6);
  const int result =
      os::call(os::site::ipv6_bind, ::bind, fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  const int why = errno;
  ::close(fd);
  if (result == 0) return verdict::works;
  // Without a free port or memory one does not know.
  return why == EADDRNOTAVAIL || why == EAFNOSUPPORT ? verdict::does_not : verdict::unknown;
}

}  // namespace

bool ipv6_works() noexcept {
  static constinit std::atomic<verdict> known{verdict::unknown};
  // Relaxed: nothing else is read because of it, and whoever tries twice finds the same.
  verdict v = known.load(std::memory_order_relaxed);
  if (v == verdict::unknown) {
    v = try_it();
    known.store(v, std::memory_order_relaxed);  // as above
  }
  return v == verdict::works;
}

}  // namespace weft::networks
