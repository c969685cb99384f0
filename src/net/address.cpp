// address.cpp: what an address says about itself.
//
// Kept is what the system gave, byte by byte, for the next system call. Only a Unix path loses what stands behind its first NUL, and gets
// that NUL if there was none, so that equal paths are equal bytes.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <ostream>
#include <type_traits>

#include "net/native.hpp"
#include "net/port.hpp"

namespace weft::networks {

namespace {

using net::address;
using net::errc;

static_assert(std::is_same_v<socklen_t, unsigned>, "address::size() says what system calls take");

// How many bytes to keep of it, as an address of that network. 0: it is not one.
std::size_t measure(const network& of, const void* native, std::size_t size) noexcept {
  if (!of.is_unix()) {
    if (!read_endpoint(native, size)) return 0;
    sa_family_t family;
    std::memcpy(&family, native, sizeof family);
    return family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  }
  const std::optional<std::size_t> used = measure_unix(native, size);
  if (!used) return 0;
  return std::max(*used, offsetof(sockaddr_un, sun_path));
}

bool is_path(const std::byte* native, std::size_t size) noexcept {
  constexpr std::size_t kPathAt = offsetof(sockaddr_un, sun_path);
  return size > kPathAt && native[kPathAt] != std::byte{0};
}

address parse(std::string_view name, std::string_view text, failure& failed) {
  const std::optional<network> of = find_network(name);
  if (!of) return failed.set(errc::unknown_network, about_network(name)), address{};
  if (of->is_unix()) return make_unix_address(*of, text, failed);
  const net::host_port both = split(text, failed);
  if (failed) return {};
  std::error_code ec;
  const std::optional<std::uint16_t> port = parse_port(*of, both.port, ec);
  std::optional<ip> host = parse_ip(both.host);
  if (both.host.empty()) host = of->family == AF_INET6 ? make_v6(kAny6, 0) : make_v4(kAny4);
  if (!host) ec = errc::invalid_address;
  if (!ec && !suits(*of, *host))
    ec = errc::no_suitable_address;  // of two faults the same as resolve()
  if (ec) return failed.set(ec, "address " + std::string(text)), address{};
  return make_address(*of, {*host, *port});
}

}  // namespace

}  // namespace weft::networks

namespace weft::inline v1::net {

address address::from_native(std::string_view network, const ::sockaddr* native, unsigned size) {
  std::error_code ec;
  address a = from_native(network, native, size, ec);
  if (ec == errc::unknown_network) throw std::system_error(ec, networks::about_network(network));
  if (ec) throw std::system_error(ec, std::string(network));
  return a;
}

address address::from_native(std::string_view network, const ::sockaddr* native, unsigned size,
                             std::error_code& ec) {
  ec.clear();
  address a;
  const auto of = networks::find_network(network);
  if (!of) return ec = errc::unknown_network, a;
  static_assert(sizeof(sockaddr_un) <= kRoom && sizeof(sockaddr_in6) <= kRoom);
  const std::size_t used = networks::measure(*of, native, size);
  if (used == 0) return ec = errc::invalid_address, a;
  if (size == 0) {
    const sa_family_t family = AF_UNIX;
    std::memcpy(a.native_, &family, sizeof family);
  } else {
    std::memcpy(a.native_, native, std::min<std::size_t>(used, size));
  }
  a.size_ = static_cast<std::uint32_t>(used);
  a.transport_ = static_cast<std::uint8_t>(of->via);
  const bool needs_nul =
      of->is_unix() && networks::is_path(a.native_, used) && used < sizeof(sockaddr_un);
  if (needs_nul) ++a.size_;
  return a;
}

std::string_view address::network() const noexcept {
  return networks::name_of(static_cast<networks::transport>(transport_));
}

int address::family() const noexcept {
  sa_family_t family;
  std::memcpy(&family, native_, sizeof family);
  return family;
}

bool address::is_unix() const noexcept { return family() == AF_UNIX; }

std::string address::to_string() const {
  const auto at = networks::read_endpoint(native_, size_);
  return at ? join_host_port(at->host.to_string(), at->port) : host();
}

std::string address::host() const {
  if (is_unix()) return networks::read_path(native_, size_);
  const auto at = networks::read_endpoint(native_, size_);
  return at ? at->host.to_string() : std::string();
}

std::uint16_t address::port() const noexcept {
  const auto at = networks::read_endpoint(native_, size_);
  return at ? at->port : 0;
}

bool address::is_v4() const noexcept {
  const auto at = networks::read_endpoint(native_, size_);
  return at && at->host.is_v4();
}

bool address::is_v6() const noexcept {
  const auto at = networks::read_endpoint(native_, size_);
  return at && !at->host.is_v4();
}

bool address::is_unspecified() const noexcept {
  const auto at = networks::read_endpoint(native_, size_);
  return at && at->host.is_unspecified();
}

bool address::is_loopback() const noexcept {
  const auto at = networks::read_endpoint(native_, size_);
  return at && at->host.is_loopback();
}

bool address::operator==(const address& other) const noexcept {
  if (transport_ != other.transport_) return false;
  if (const auto at = networks::read_endpoint(native_, size_))
    return at == networks::read_endpoint(other.native_, other.size_);
  return std::equal(native_, native_ + size_, other.native_, other.native_ + other.size_);
}

std::ostream& operator<<(std::ostream& out, const address& a) { return out << a.to_string(); }

address parse_address(std::string_view network, std::string_view text) {
  networks::failure failed;
  const address a = networks::parse(network, text, failed);
  failed.raise_if_any();
  return a;
}

address parse_address(std::string_view network, std::string_view text, std::error_code& ec) {
  networks::failure failed;
  const address a = networks::parse(network, text, failed);
  ec = failed.code;
  return a;
}

}  // namespace weft::inline v1::net
