// socket.cpp: see socket.hpp.
#include "net/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "os/system_call.hpp"

namespace weft::inline v1::net::detail {

namespace {

const address kNowhere;

}  // namespace

const address& local_of(const ends* e) noexcept {
  if (e == nullptr) return kNowhere;
  return e->local;
}
const address& remote_of(const ends* e) noexcept {
  if (e == nullptr) return kNowhere;
  return e->remote;
}

}  // namespace weft::inline v1::net::detail

namespace weft::networks {

namespace {

constexpr int kKeepAliveSeconds = 15;

void set_option(int fd, int level, int which, int value) noexcept {
  os::call(os::site::socket_option, ::setsockopt, fd, level, which, &value, sizeof value);
}

template <class Get>
net::address ask_address(os::site at, int fd, std::string_view network, Get get,
                         std::error_code& ec) {
  sockaddr_storage room{};
  socklen_t size = sizeof room;
  if (os::call(at, get, fd, reinterpret_cast<sockaddr*>(&room), &size) != 0) {
    ec = io::detail::system_error(errno);
    return {};
  }
  return net::address::from_native(network, reinterpret_cast<const sockaddr*>(&room), size, ec);
}

}  // namespace

int make_socket(const network& net, int family, std::error_code& ec) noexcept {
  ec.clear();
  const int fd =
      os::call(os::site::socket, ::socket, family, net.type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd == -1) ec = io::detail::system_error(errno);
  // [::] takes IPv4 as well, unless IPv6 alone was asked for.
  if (fd != -1 && family == AF_INET6)
    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, net.family == AF_INET6 ? 1 : 0);
  return fd;
}

void set_defaults(int fd, transport via) noexcept {
  if (via != transport::tcp) return;
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveSeconds);
}

std::shared_ptr<io::detail::descriptor> adopt_socket(owned_fd& fd, const network& net,
                                                     std::error_code& ec) {
  const auto kind = net.via == transport::tcp ? io::detail::descriptor_kind::tcp_socket
                    : net.type == SOCK_STREAM ? io::detail::descriptor_kind::stream_socket
                                              : io::detail::descriptor_kind::packet_socket;
  auto d = io::detail::descriptor::adopt(fd.get(), kind, ec);
  if (d != nullptr) fd.release();
  return d;
}

net::address local_address(int fd, std::string_view network, std::error_code& ec) {
  return ask_address(os::site::local_name, fd, network, &::getsockname, ec);
}

net::address remote_address(int fd, std::string_view network, std::error_code& ec) {
  return ask_address(os::site::remote_name, fd, network, &::getpeername, ec);
}

std::string name_of_connection(const net::detail::ends& e) {
  std::string name(e.local.network());
  name.append(" ").append(e.local.to_string()).append("->").append(e.remote.to_string());
  return name;
}

net::conn finish_conn(std::shared_ptr<io::detail::descriptor> d, const network& net) {
  std::error_code unknown;  // then it came from nowhere
  const net::address partner = remote_address(d->fd(), net.name, unknown);
  return finish_conn(std::move(d), net, partner);
}

net::conn finish_conn(std::shared_ptr<io::detail::descriptor> d, const network& net,
                      const net::address& partner) {
  std::error_code unknown;  // then it has no name
  auto e = std::make_shared<net::detail::ends>(
      net::detail::ends{local_address(d->fd(), net.name, unknown), partner});
  d->name = name_of_connection(*e);
  return net::detail::socket_access::make_conn(std::move(d), std::move(e));
}

}  // namespace weft::networks
