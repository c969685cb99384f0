// packet_conn.cpp: datagrams.
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "net/resolve.hpp"
#include "net/socket.hpp"
#include "os/system_call.hpp"

#include <weft/net/packet_conn.hpp>

namespace weft::inline v1::net {

namespace {

packet_conn listen_somewhere(std::string_view network_name, std::string_view text,
                             networks::failure& failed) {
  const auto net = networks::find_network(network_name);
  if (!net || net->type != SOCK_DGRAM) {
    failed.set(errc::unknown_network,
               "listen " + std::string(network_name) + (net ? " (connections: see listen)" : ""));
    return {};
  }
  const auto places =
      networks::resolve(context(), network_name, text, networks::purpose::listen, failed);
  std::string about = "listen " + std::string(network_name);
  if (failed) {
    failed.about = about + ": " + failed.about;
    return {};
  }
  const address& at = places.front();
  about.append(" ").append(at.to_string());
  std::error_code ec;
  networks::owned_fd fd(networks::make_socket(*net, at.family(), ec));
  if (!ec && os::call(os::site::bind, ::bind, fd.get(), at.data(), at.size()) != 0)
    ec = io::detail::system_error(io::detail::last_error());
  auto d = !ec ? networks::adopt_socket(fd, *net, ec) : nullptr;
  auto e = std::make_shared<detail::ends>();
  if (!ec) e->local = networks::local_address(d->fd(), net->name, ec);
  if (ec) {
    failed.set(ec, about);
    return {};
  }
  d->name = std::string(e->local.network()) + " " + e->local.to_string();
  if (net->is_unix() && !at.to_string().empty() && at.to_string().front() != '@')
    d->path = at.to_string();
  return detail::socket_access::make_packet_conn(std::move(d), std::move(e));
}

}  // namespace

packet_conn::packet_conn(std::shared_ptr<io::detail::descriptor> d,
                         std::shared_ptr<const detail::ends> e) noexcept
    : handle(std::move(d)), ends_(std::move(e)) {}

datagram packet_conn::read_from(io::mutable_buffer into, std::error_code& ec) const {
  io::detail::descriptor* const d = get(ec);
  if (d == nullptr) return {};
  sockaddr_storage room{};
  socklen_t size = sizeof room;
  const ssize_t n = d->read(
      [&](int fd) {
        size = sizeof room;
        return os::call(os::site::packet_recv, ::recvfrom, fd, into.data(), into.size(), 0,
                        reinterpret_cast<sockaddr*>(&room), &size);
      },
      ec);
  if (n < 0) return {};
  std::error_code unknown;  // then it came from nowhere
  return {static_cast<std::size_t>(n),
          address::from_native(local_addr().network(), reinterpret_cast<const sockaddr*>(&room),
                               size, unknown)};
}
datagram packet_conn::read_from(io::mutable_buffer into) const {
  std::error_code ec;
  datagram d = read_from(into, ec);
  check(ec, "read");
  return d;
}

std::size_t packet_conn::write_to(io::const_buffer from, const address& to,
                                  std::error_code& ec) const {
  io::detail::descriptor* const d = get(ec);
  if (d == nullptr) return 0;
  const ssize_t n = d->write(
      [&](int fd) {
        return os::call(os::site::packet_send, ::sendto, fd, from.data(), from.size(), MSG_NOSIGNAL,
                        to.data(), to.size());
      },
      ec);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}
std::size_t packet_conn::write_to(io::const_buffer from, const address& to) const {
  std::error_code ec;
  const std::size_t n = write_to(from, to, ec);
  if (ec) check(ec, "write", "->" + to.to_string());
  return n;
}

const address& packet_conn::local_addr() const noexcept { return detail::local_of(ends_.get()); }

packet_conn listen_packet(std::string_view network, std::string_view address) {
  networks::failure failed;
  packet_conn p = listen_somewhere(network, address, failed);
  failed.raise_if_any();
  return p;
}
packet_conn listen_packet(std::string_view network, std::string_view address, std::error_code& ec) {
  networks::failure failed;
  packet_conn p = listen_somewhere(network, address, failed);
  ec = failed.code;
  return p;
}

}  // namespace weft::inline v1::net
