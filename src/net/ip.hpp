// ip.hpp: an IP address by itself, without port and network.
//
// IPv4 is kept in the form of IPv6 (::ffff:1.2.3.4), which is also how a socket of both kinds gives it. So the two forms of an IPv4 address
// are the same here, are written the same and compare equal.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::networks {

struct ip {
  std::array<unsigned char, 16> bytes{};
  std::uint32_t zone =
      0;  // the index of an interface, for addresses that are unique on one link only; 0: none

  bool is_v4() const noexcept;
  bool is_unspecified() const noexcept;
  bool is_loopback() const noexcept;
  // "127.0.0.1", "fe80::1%eth0"
  std::string to_string() const;

  friend bool operator==(const ip&, const ip&) = default;
};

// The last four or all sixteen bytes, in the order of the network.
ip make_v4(const void* four) noexcept;
ip make_v6(const void* sixteen, std::uint32_t zone) noexcept;

inline constexpr unsigned char kLoopback4[4] = {127, 0, 0, 1};
inline constexpr unsigned char kAny4[4] = {0, 0, 0, 0};
inline constexpr unsigned char kLoopback6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
inline constexpr unsigned char kAny6[16] = {};

// Four decimal numbers, or IPv6 with or without a zone (the name or the index of an interface that is there). None of the older ways to
// write IPv4 with fewer parts, in octal or in hexadecimal: who checked the text must not have checked another address.
std::optional<ip> parse_ip(std::string_view text) noexcept;

}  // namespace weft::networks
