// packet_conn.hpp: datagrams from and to anybody.
//
//   auto p = weft::net::listen_packet("udp", ":5353");
//   std::array<char, 65536> room;
//   auto [n, from] = p.read_from(room);
//   p.write_to({room.data(), n}, from);
//
// A handle (<weft/io/handle.hpp>): copies are the same socket, and the last one closes it. For datagrams with one partner see dial("udp", ..).
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <system_error>

#include <weft/detail/config.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/handle.hpp>
#include <weft/net/address.hpp>
#include <weft/net/conn.hpp>

namespace weft::inline v1 {
namespace net {

struct datagram {
  std::size_t size = 0;  // what does not fit into the buffer is lost
  address from;          // "" for a Unix socket without a name
};

class WEFT_API packet_conn : public io::handle {
 public:
  packet_conn() noexcept = default;

  // Waits for the next datagram. An empty one is one too.
  WEFT_MAY_SWITCH datagram read_from(io::mutable_buffer into) const;
  WEFT_MAY_SWITCH datagram read_from(io::mutable_buffer into, std::error_code& ec) const;
  WEFT_MAY_SWITCH std::size_t write_to(io::const_buffer from, const address& to) const;
  WEFT_MAY_SWITCH std::size_t write_to(io::const_buffer from, const address& to,
                                       std::error_code& ec) const;

  [[nodiscard]] const address& local_addr() const noexcept;

 private:
  friend class detail::socket_access;
  packet_conn(std::shared_ptr<io::detail::descriptor> d,
              std::shared_ptr<const detail::ends> e) noexcept;
  std::shared_ptr<const detail::ends> ends_;
};

// network: "udp", "udp4", "udp6", "unixgram". Port 0: a free one.
[[nodiscard]] WEFT_API packet_conn listen_packet(std::string_view network,
                                                 std::string_view address);
[[nodiscard]] WEFT_API packet_conn listen_packet(std::string_view network, std::string_view address,
                                                 std::error_code& ec);

}  // namespace net
}  // namespace weft::inline v1
