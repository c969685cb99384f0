// dial.hpp: making connections.
//
//   auto c = weft::net::dial("tcp", "example.org:http");
//   auto d = weft::net::dial("tcp", "[::1]:6379", ctx);                      // until the context ends
//   auto e = weft::net::dial("unix", "/run/app.sock");
//
// A name may have several addresses. They are tried in the system's order, those of the first one's kind (IPv4 or IPv6) first; if these
// have not answered after 300 ms the others are tried beside them, and the first connection wins.
#pragma once

#include <string_view>
#include <system_error>

#include <weft/context.hpp>
#include <weft/detail/config.hpp>
#include <weft/net/conn.hpp>

namespace weft::inline v1 {
namespace net {

// network: "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "unix", "unixgram", "unixpacket". address: "host:port", ":port" (this machine); or a path.
// Throws std::system_error: "dial tcp 127.0.0.1:1: Connection refused"; if the context ended first, with its err().
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network,
                                                 std::string_view address);
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network, std::string_view address,
                                                 const context& ctx);
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network, std::string_view address,
                                                 std::error_code& ec);
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network, std::string_view address,
                                                 const context& ctx, std::error_code& ec);

}  // namespace net
}  // namespace weft::inline v1
