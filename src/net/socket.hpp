// socket.hpp: making sockets, and the handles around them.
#pragma once

#include <memory>
#include <string>
#include <system_error>

#include "io/descriptor.hpp"
#include "io/owned_fd.hpp"
#include "net/network.hpp"

#include <weft/net/address.hpp>
#include <weft/net/conn.hpp>
#include <weft/net/listener.hpp>
#include <weft/net/packet_conn.hpp>

namespace weft::inline v1::net::detail {

struct ends {
  address local;
  address remote;
};

// Of a handle that was closed from the start: nowhere.
const address& local_of(const ends* e) noexcept;
const address& remote_of(const ends* e) noexcept;

// The only one who makes handles.
class socket_access {
 public:
  using descriptor_ptr = std::shared_ptr<io::detail::descriptor>;
  using ends_ptr = std::shared_ptr<const ends>;

  static conn make_conn(descriptor_ptr d, ends_ptr e) { return conn(std::move(d), std::move(e)); }
  static listener make_listener(descriptor_ptr d, ends_ptr e) {
    return listener(std::move(d), std::move(e));
  }
  static packet_conn make_packet_conn(descriptor_ptr d, ends_ptr e) {
    return packet_conn(std::move(d), std::move(e));
  }
};

}  // namespace weft::inline v1::net::detail

namespace weft::networks {

using io::detail::owned_fd;

// Non-blocking, closed when a program is executed, for addresses of that family. -1: ec.
int make_socket(const network& net, int family, std::error_code& ec) noexcept;

// As Go sets them: TCP sends small pieces at once, and asks after 15 s of silence.
void set_defaults(int fd, transport via) noexcept;

// Adopts the socket, which is the descriptor's from then on.
std::shared_ptr<io::detail::descriptor> adopt_socket(owned_fd& fd, const network& net,
                                                     std::error_code& ec);

// Its own address and its partner's; empty if it has none.
net::address local_address(int fd, std::string_view network, std::error_code& ec);
net::address remote_address(int fd, std::string_view network, std::error_code& ec);

// "tcp 127.0.0.1:4711->127.0.0.1:80"
std::string name_of_connection(const net::detail::ends& e);

// A connection on an adopted socket. Its partner is asked for, or was told by accept(): one that has been reset cannot say any more.
net::conn finish_conn(std::shared_ptr<io::detail::descriptor> d, const network& net);
net::conn finish_conn(std::shared_ptr<io::detail::descriptor> d, const network& net,
                      const net::address& partner);

}  // namespace weft::networks
