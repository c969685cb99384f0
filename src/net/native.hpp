// native.hpp: addresses for system calls, made and read.
//
// A sockaddr is read by copying it out, so it may lie anywhere, and no byte after its size is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/failure.hpp"
#include "net/ip.hpp"
#include "net/network.hpp"

#include <weft/net/address.hpp>

namespace weft::networks {

struct endpoint {
  ip host;
  std::uint16_t port = 0;

  friend bool operator==(const endpoint&, const endpoint&) = default;
};

// None: it is not a whole sockaddr_in or sockaddr_in6.
std::optional<endpoint> read_endpoint(const void* native, std::size_t size) noexcept;

// The path of a sockaddr_un, "@name" for one in the abstract namespace, "" for one without a name.
std::string read_path(const void* native, std::size_t size);

// How much of a sockaddr_un counts: a path up to its NUL, an abstract name whole. None: it is no sockaddr_un.
std::optional<std::size_t> measure_unix(const void* native, std::size_t size) noexcept;

// IPv4 as a sockaddr_in. Of a network of IP.
net::address make_address(const network& of, const endpoint& at);

// A path, "@name", or nothing: without a name. errc::path_too_long, invalid_address (a NUL inside).
net::address make_unix_address(const network& of, std::string_view path, failure& failed);

// May an address of that kind be used in this network?
bool suits(const network& of, const ip& host) noexcept;

}  // namespace weft::networks
