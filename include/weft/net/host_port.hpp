// host_port.hpp: the text of an address, taken apart and put together. Nothing here asks the network.
//
//   auto [host, port] = weft::net::split_host_port("[fe80::1%eth0]:https");   // "fe80::1%eth0", "https"
//   weft::net::join_host_port("::1", 80);                                     // "[::1]:80"
//   weft::net::parse_port("tcp", "https");                                    // 443
//
// With an error_code nothing is thrown but std::bad_alloc, and what is returned on an error is empty. Without one: std::system_error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {
namespace net {

struct host_port {
  std::string host;
  std::string port;
};

// "host:port", "[host]:port", "[host%zone]:port": the host without its brackets. Either may be empty. A host that has colons itself must
// stand in brackets. Whether host and port mean anything is not asked.
[[nodiscard]] WEFT_API host_port split_host_port(std::string_view address);
[[nodiscard]] WEFT_API host_port split_host_port(std::string_view address, std::error_code& ec);

// A host that has colons gets brackets.
[[nodiscard]] WEFT_API std::string join_host_port(std::string_view host, std::string_view port);
[[nodiscard]] WEFT_API std::string join_host_port(std::string_view host, std::uint16_t port);

// A number from 0 to 65535, or the name of a service that everybody knows ("http", "ssh", ...), in capitals or not. Empty: 0.
// Throws errc::unknown_network, invalid_port (a number that is too large or has a sign), unknown_port.
[[nodiscard]] WEFT_API std::uint16_t parse_port(std::string_view network, std::string_view port);
[[nodiscard]] WEFT_API std::uint16_t parse_port(std::string_view network, std::string_view port,
                                                std::error_code& ec);

}  // namespace net
}  // namespace weft::inline v1
