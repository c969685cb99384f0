// network.cpp: the table of networks.
#include <sys/socket.h>

#include "net/network.hpp"

namespace weft::networks {

namespace {

constexpr network kNetworks[] = {
    {"tcp", transport::tcp, AF_UNSPEC, SOCK_STREAM},
    {"tcp4", transport::tcp, AF_INET, SOCK_STREAM},
    {"tcp6", transport::tcp, AF_INET6, SOCK_STREAM},
    {"udp", transport::udp, AF_UNSPEC, SOCK_DGRAM},
    {"udp4", transport::udp, AF_INET, SOCK_DGRAM},
    {"udp6", transport::udp, AF_INET6, SOCK_DGRAM},
    {"unix", transport::unix_stream, AF_UNIX, SOCK_STREAM},
    {"unixgram", transport::unix_datagram, AF_UNIX, SOCK_DGRAM},
    {"unixpacket", transport::unix_packet, AF_UNIX, SOCK_SEQPACKET},
};

}  // namespace

std::optional<network> find_network(std::string_view name) noexcept {
  for (const network& n : kNetworks) {
    if (n.name == name) return n;
  }
  return std::nullopt;
}

std::string_view name_of(transport via) noexcept {
  for (const network& n : kNetworks) {
    if (n.via == via) return n.name;  // the one without a digit comes first
  }
  return {};
}

}  // namespace weft::networks
