// tls.hpp: connections that nobody can read or change on their way. Needs the library weft::tls, which stands on OpenSSL.
//
//   auto c = weft::net::tls::dial("tcp", "example.org:443");        // the certificate is checked, and whose it is
//   c.write_all("GET / HTTP/1.0\r\nHost: example.org\r\n\r\n");
//
//   const weft::net::tls::server_config identity("chain.pem", "key.pem");
//   auto c = weft::net::tls::server(listener.accept(), identity);
//   c.handshake();                                                  // or with the first read or write
//
// A conn here reads and writes like a net::conn: a handle, for any goroutine at any time; a read and a write go on side by side; deadlines are
// those of lower(); close() wakes whoever waits. With <weft/beast.hpp> Boost.Beast reads and writes HTTPS on it.
//
// Certificates are checked: a client asks whether somebody it trusts vouches for the server, and whether the name is the one that was dialled.
// What is refused is an error in tls::category(), and its message says why. TLS 1.2 and 1.3; nothing is renegotiated.
//
// Blocks: this goroutine only (from a plain thread: that thread). Async-signal-safe: no.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include <weft/context.hpp>
#include <weft/detail/config.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/foreign_buffers.hpp>
#include <weft/net/conn.hpp>

namespace weft::inline v1 {
namespace net::tls {

namespace detail {
class session;
class settings;
class access;
}  // namespace detail

// What an error of category() is compared with; its own values are OpenSSL's, and message() says OpenSSL's words.
//   if (ec == weft::net::tls::errc::expired) ...
enum class errc : std::uint8_t {
  bad_certificate =
      1,  // the other side's was refused, or it showed none: the three below, and all other reasons
  not_trusted,  // nobody who is trusted vouches for it
  expired,      // or not valid yet
  wrong_name,   // it is somebody else's
  refused,      // the other side refused: it has sent an alert
  protocol,  // what the other side says is no TLS, or a kind that was not allowed, or was changed on its way
};
WEFT_API const std::error_category& category() noexcept;
WEFT_API std::error_condition make_error_condition(errc e) noexcept;

enum class version : std::uint8_t { tls_1_2, tls_1_3 };

// Whom a client trusts and what it offers. A value: connections keep what they were made with.
// What cannot be used throws std::system_error, which names the file and the reason: "tls: trust ca.pem: No such file or directory".
class WEFT_API client_config {
 public:
  // Trusts whom the system trusts.
  client_config();

  // Trusts those in this file (PEM) instead.
  client_config& trust_file(const std::string& path);
  // Shows this to servers that ask (PEM: the certificate first, then those who vouch for it).
  client_config& identity(const std::string& chain_path, const std::string& key_path);
  // Whom the server's certificate must be of, if not of the host that is dialled: a name or an IP address.
  client_config& server_name(std::string_view name);
  // What is to be spoken above TLS ("h2", "http/1.1"), what is liked best first.
  client_config& protocols(const std::vector<std::string>& alpn);
  client_config& versions(version least, version most = version::tls_1_3);
  // Anybody can then be in between: for tests.
  client_config& trust_anybody();

 private:
  friend class detail::access;
  std::shared_ptr<const detail::settings> settings_;
};

// Who a server is. A value as well: for a new certificate make a new one, and use it for the next connections.
class WEFT_API server_config {
 public:
  // PEM: the certificate first, then those who vouch for it; and its key.
  server_config(const std::string& chain_path, const std::string& key_path);

  // Clients must show a certificate that somebody in this file vouches for.
  server_config& require_clients_of(const std::string& path);
  // What can be spoken above TLS, what is liked best first. A client that offers nothing of it is refused; one that does not ask is not.
  server_config& protocols(const std::vector<std::string>& alpn);
  server_config& versions(version least, version most = version::tls_1_3);

 private:
  friend class detail::access;
  std::shared_ptr<const detail::settings> settings_;
};

class WEFT_API conn : public io::foreign_buffers<conn> {
 public:
  // One that is closed.
  conn() noexcept = default;

  // Agrees on everything, if that has not happened yet. Reads and writes do it by themselves.
  // A context that ends before that closes the connection, and its err() is the error.
  WEFT_MAY_SWITCH void handshake() const;
  WEFT_MAY_SWITCH void handshake(const context& ctx) const;
  WEFT_MAY_SWITCH void handshake(std::error_code& ec) const;
  WEFT_MAY_SWITCH void handshake(const context& ctx, std::error_code& ec) const;

  // As of <weft/io/stream.hpp>. 0: the other side has said that nothing more comes. One that ends without having said so may have been cut
  // off: io::errc::unexpected_eof.
  WEFT_MAY_SWITCH std::size_t read_some(io::mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_some(io::mutable_buffer into, std::error_code& ec) const;
  WEFT_MAY_SWITCH void read_full(io::mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_full(io::mutable_buffer into, std::error_code& ec) const;

  // Here what was encrypted must be sent. So after errc::deadline_exceeded the number says how much was taken over, which may be more
  // than was sent: the rest goes out first when somebody writes again.
  WEFT_MAY_SWITCH std::size_t write_some(io::const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_some(io::const_buffer from, std::error_code& ec) const;
  WEFT_MAY_SWITCH std::size_t write_some(std::span<const io::const_buffer> pieces) const;
  WEFT_MAY_SWITCH std::size_t write_some(std::span<const io::const_buffer> pieces,
                                         std::error_code& ec) const;
  WEFT_MAY_SWITCH void write_all(io::const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_all(io::const_buffer from, std::error_code& ec) const;
  WEFT_MAY_SWITCH void write_all(std::span<const io::const_buffer> pieces) const;
  WEFT_MAY_SWITCH std::size_t write_all(std::span<const io::const_buffer> pieces,
                                        std::error_code& ec) const;

  // Buffers of other libraries, with their headers.
  using io::foreign_buffers<conn>::read_some;
  using io::foreign_buffers<conn>::write_some;

  // Says that nothing more comes from us. Writes fail with std::errc::broken_pipe from then on; reads go on.
  WEFT_MAY_SWITCH void shutdown() const;
  WEFT_MAY_SWITCH void shutdown(std::error_code& ec) const;
  // Says so too, if that can be done without waiting for the other side. Whoever waits fails with io::errc::closed, as does every later call.
  // The last handle that goes does the same, and closes the connection underneath if nobody else has it.
  WEFT_MAY_SWITCH void close() const noexcept;
  [[nodiscard]] bool is_open() const noexcept;
  explicit operator bool() const noexcept { return is_open(); }

  // The connection underneath: deadlines and addresses. Whoever reads or writes there breaks this one.
  [[nodiscard]] const net::conn& lower() const noexcept;

  // After the handshake.
  [[nodiscard]] version agreed_version() const;
  [[nodiscard]] std::string agreed_protocol() const;  // "": none
  // Of the other side's certificate: its common name, else the first of its DNS names. "": it showed none.
  [[nodiscard]] std::string peer_name() const;

  friend bool operator==(const conn& a, const conn& b) noexcept { return a.impl_ == b.impl_; }

 private:
  friend class detail::access;
  detail::session* get(std::error_code& ec) const noexcept;
  void check(const std::error_code& ec, std::string_view operation) const;

  std::shared_ptr<detail::session> impl_;
};

// On a connection that is there already. name: whom the certificate must be of, unless the config says so.
// Throws std::invalid_argument if there is none, or it cannot be one.
[[nodiscard]] WEFT_API conn client(net::conn under, const client_config& config,
                                   std::string_view name = {});
[[nodiscard]] WEFT_API conn server(net::conn under, const server_config& config);

// Dials ("tcp", "tcp4", "tcp6" or "unix") and agrees. Throws std::system_error: what net::dial says, or
// "tls example.org:443: certificate has expired (certificate verify failed)".
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network, std::string_view address,
                                                 const client_config& config = {});
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network, std::string_view address,
                                                 const client_config& config, const context& ctx);
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network, std::string_view address,
                                                 const client_config& config, std::error_code& ec);
[[nodiscard]] WEFT_API WEFT_MAY_SWITCH conn dial(std::string_view network, std::string_view address,
                                                 const client_config& config, const context& ctx,
                                                 std::error_code& ec);

}  // namespace net::tls
}  // namespace weft::inline v1

template <>
struct std::is_error_condition_enum<weft::net::tls::errc> : std::true_type {};
