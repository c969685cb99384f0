// network.hpp: the networks that have a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::networks {

// What an address remembers of its network: tcp4 and tcp6 say which addresses are wanted, and an address then is of tcp (as in Go).
enum class transport : std::uint8_t { none, tcp, udp, unix_stream, unix_datagram, unix_packet };

struct network {
  std::string_view name;  // static
  transport via;
  int family;  // AF_UNSPEC: both kinds of IP
  int type;    // SOCK_STREAM, ...

  bool is_unix() const noexcept { return via >= transport::unix_stream; }
};

std::optional<network> find_network(std::string_view name) noexcept;

// "tcp", "udp", "unix", "unixgram", "unixpacket"; "" for none.
std::string_view name_of(transport via) noexcept;

}  // namespace weft::networks
