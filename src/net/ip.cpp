// ip.cpp: IP addresses as text.
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "net/ip.hpp"

namespace weft::networks {

namespace {

constexpr std::size_t kV4At = 12;
constexpr unsigned char kV4Prefix[kV4At] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// As the C library wants it. False: too long to be an address or the name of an interface, or it has a NUL inside.
template <std::size_t N>
bool terminate(std::string_view text, char (&out)[N]) noexcept {
  if (text.empty() || text.size() >= N || text.find('\0') != text.npos) return false;
  std::copy(text.begin(), text.end(), out);
  out[text.size()] = '\0';
  return true;
}

// 0: there is no such interface.
std::uint32_t parse_zone(std::string_view text) noexcept {
  std::uint32_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  if (error == std::errc{} && stop == end) return index;
  char name[IF_NAMESIZE];
  return terminate(text, name) ? ::if_nametoindex(name) : 0;
}

std::string zone_name(std::uint32_t index) {
  char name[IF_NAMESIZE];
  return ::if_indextoname(index, name) != nullptr ? name : std::to_string(index);
}

}  // namespace

bool ip::is_v4() const noexcept { return std::equal(kV4Prefix, kV4Prefix + kV4At, bytes.begin()); }

bool ip::is_unspecified() const noexcept {
  return *this == make_v4(kAny4) || *this == make_v6(kAny6, zone);
}

bool ip::is_loopback() const noexcept {
  return is_v4() ? bytes[kV4At] == 127 : *this == make_v6(kLoopback6, zone);
}

std::string ip::to_string() const {
  char text[INET6_ADDRSTRLEN];
  if (is_v4()) return ::inet_ntop(AF_INET, bytes.data() + kV4At, text, sizeof text);
  std::string all = ::inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  return zone == 0 ? all : all + '%' + zone_name(zone);
}

ip make_v4(const void* four) noexcept {
  ip a;
  std::copy(kV4Prefix, kV4Prefix + kV4At, a.bytes.begin());
  std::memcpy(a.bytes.data() + kV4At, four, 4);
  return a;
}

ip make_v6(const void* sixteen, std::uint32_t zone) noexcept {
  ip a;
  std::memcpy(a.bytes.data(), sixteen, a.bytes.size());
  if (!a.is_v4()) a.zone = zone;
  return a;
}

std::optional<ip> parse_ip(std::string_view text) noexcept {
  char copy[INET6_ADDRSTRLEN];
  unsigned char bytes[16];
  const std::size_t percent = text.find('%');
  if (!terminate(text.substr(0, percent), copy)) return std::nullopt;
  if (::inet_pton(AF_INET, copy, bytes) == 1)
    return percent == text.npos ? std::optional(make_v4(bytes)) : std::nullopt;
  if (::inet_pton(AF_INET6, copy, bytes) != 1) return std::nullopt;
  if (percent == text.npos) return make_v6(bytes, 0);
  const std::uint32_t zone = parse_zone(text.substr(percent + 1));
  const ip a = make_v6(bytes, zone);
  return zone != 0 && !a.is_v4() ? std::optional(a) : std::nullopt;
}

}  // namespace weft::networks
