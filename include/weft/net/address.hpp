// address.hpp: where one end of a connection is: an IP address and a port, or the path of a Unix socket.
//
//   weft::net::address a = conn.remote_addr();
//   std::cout << a.network() << ' ' << a;                                  // tcp 127.0.0.1:80
//   auto b = weft::net::parse_address("udp", "[fe80::1%eth0]:domain");
//   ::sendto(fd, p, n, 0, b.data(), b.size());
//
// A value: it can be copied, compared and kept, and refers to nothing. Names of hosts are not addresses: see <weft/net/lookup.hpp>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <system_error>

#include <weft/detail/config.hpp>
#include <weft/net/error.hpp>
#include <weft/net/host_port.hpp>

struct sockaddr;

namespace weft::inline v1 {
namespace net {

class WEFT_API address {
 public:
  // Of no network, and nowhere: to be assigned to.
  address() noexcept = default;

  // What the system gave. Nothing at all is a Unix socket without a name, if the network is one of those.
  // Throws errc::unknown_network, errc::invalid_address if it is not an address of that network.
  [[nodiscard]] static address from_native(std::string_view network, const ::sockaddr* native,
                                           unsigned size);
  [[nodiscard]] static address from_native(std::string_view network, const ::sockaddr* native,
                                           unsigned size, std::error_code& ec);

  // "tcp", "udp", "unix", "unixgram" or "unixpacket"; one that came by "tcp4" is of "tcp". Empty: default constructed.
  [[nodiscard]] std::string_view network() const noexcept;

  // "127.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80"; "/run/x.sock", "@abstract", "" for a Unix socket without a name.
  // An IPv4 address that came through a socket for IPv6 is written as what it is.
  [[nodiscard]] std::string to_string() const;
  // Without the port and the brackets; a Unix socket's whole path.
  [[nodiscard]] std::string host() const;
  // 0: a Unix socket, or none.
  [[nodiscard]] std::uint16_t port() const noexcept;

  [[nodiscard]] bool is_unix() const noexcept;
  // What the address is, not what socket it came through (that is family()).
  [[nodiscard]] bool is_v4() const noexcept;
  [[nodiscard]] bool is_v6() const noexcept;
  // 0.0.0.0 or [::], whatever the port.
  [[nodiscard]] bool is_unspecified() const noexcept;
  // 127.x.x.x or [::1].
  [[nodiscard]] bool is_loopback() const noexcept;

  // For system calls: AF_INET, AF_INET6, AF_UNIX, or 0 if default constructed; what it points to is part of this object.
  [[nodiscard]] int family() const noexcept;
  [[nodiscard]] const ::sockaddr* data() const noexcept {
    return reinterpret_cast<const ::sockaddr*>(native_);
  }
  [[nodiscard]] unsigned size() const noexcept { return size_; }

  // The same network, and the same place in it: an IPv4 address equals itself in the form of IPv6.
  [[nodiscard]] bool operator==(const address& other) const noexcept;

  friend WEFT_API std::ostream& operator<<(std::ostream& out, const address& a);

 private:
  static constexpr std::size_t kRoom = 128;  // as sockaddr_storage
  alignas(std::uint64_t) std::byte native_[kRoom]{};
  std::uint32_t size_ = 0;
  std::uint8_t transport_ = 0;  // net/network.hpp
};

// An address from its text: an IP address and a port, by number or by a name that everybody knows; or a path, or "@name" for the abstract
// namespace. Nothing is looked up: the name of a host is errc::invalid_address, an IPv6 address in "tcp4" errc::no_suitable_address.
// No host is the unspecified address, of IPv4 unless the network says otherwise.
[[nodiscard]] WEFT_API address parse_address(std::string_view network, std::string_view text);
[[nodiscard]] WEFT_API address parse_address(std::string_view network, std::string_view text,
                                             std::error_code& ec);

}  // namespace net
}  // namespace weft::inline v1
