// conn.cpp: the handle: each operation with an error_code, and the form that throws.
#include <string>

#include "net/tls/session.hpp"

#include <weft/io/error.hpp>
#include <weft/net/tls.hpp>

namespace weft::inline v1::net::tls {

detail::session* conn::get(std::error_code& ec) const noexcept {
  if (impl_ == nullptr) {
    ec = io::errc::closed;
  } else {
    ec.clear();
  }
  return impl_.get();
}

// "read tls 127.0.0.1:4711->127.0.0.1:443"
void conn::check(const std::error_code& ec, std::string_view operation) const {
  if (!ec) return;
  std::string what(operation);
  what += operation.empty() ? "tls" : " tls";
  if (impl_ != nullptr) {
    const net::conn& c = impl_->lower();
    what += ' ';
    if (!operation.empty()) what += c.local_addr().to_string() + "->";
    what += c.remote_addr().to_string();
  }
  throw std::system_error(ec, what);
}

void conn::handshake(std::error_code& ec) const {
  if (detail::session* const s = get(ec)) s->handshake(ec);
}
void conn::handshake(const context& ctx, std::error_code& ec) const {
  if (detail::session* const s = get(ec)) s->handshake(ctx, ec);
}
void conn::handshake() const {
  std::error_code ec;
  handshake(ec);
  check(ec, "");
}
void conn::handshake(const context& ctx) const {
  std::error_code ec;
  handshake(ctx, ec);
  check(ec, "");
}

std::size_t conn::read_some(io::mutable_buffer into, std::error_code& ec) const {
  detail::session* const s = get(ec);
  return s != nullptr ? s->read_some(into, ec) : 0;
}
std::size_t conn::read_some(io::mutable_buffer into) const {
  std::error_code ec;
  const std::size_t n = read_some(into, ec);
  check(ec, "read");
  return n;
}

std::size_t conn::read_full(io::mutable_buffer into, std::error_code& ec) const {
  detail::session* const s = get(ec);
  std::size_t done = 0;
  while (s != nullptr && !ec && done < into.size()) {
    const io::mutable_buffer rest(static_cast<char*>(into.data()) + done, into.size() - done);
    const std::size_t n = s->read_some(rest, ec);
    if (!ec && n == 0) ec = io::errc::unexpected_eof;
    done += n;
  }
  return done;
}
void conn::read_full(io::mutable_buffer into) const {
  std::error_code ec;
  read_full(into, ec);
  check(ec, "read");
}

std::size_t conn::write_some(std::span<const io::const_buffer> pieces, std::error_code& ec) const {
  detail::session* const s = get(ec);
  return s != nullptr ? s->write(pieces, false, ec) : 0;
}
std::size_t conn::write_some(std::span<const io::const_buffer> pieces) const {
  std::error_code ec;
  const std::size_t n = write_some(pieces, ec);
  check(ec, "write");
  return n;
}
std::size_t conn::write_some(io::const_buffer from, std::error_code& ec) const {
  return write_some(std::span<const io::const_buffer>(&from, 1), ec);
}
std::size_t conn::write_some(io::const_buffer from) const {
  return write_some(std::span<const io::const_buffer>(&from, 1));
}

std::size_t conn::write_all(std::span<const io::const_buffer> pieces, std::error_code& ec) const {
  detail::session* const s = get(ec);
  return s != nullptr ? s->write(pieces, true, ec) : 0;
}
void conn::write_all(std::span<const io::const_buffer> pieces) const {
  std::error_code ec;
  write_all(pieces, ec);
  check(ec, "write");
}
std::size_t conn::write_all(io::const_buffer from, std::error_code& ec) const {
  return write_all(std::span<const io::const_buffer>(&from, 1), ec);
}
void conn::write_all(io::const_buffer from) const {
  write_all(std::span<const io::const_buffer>(&from, 1));
}

void conn::shutdown(std::error_code& ec) const {
  if (detail::session* const s = get(ec)) s->shutdown(ec);
}
void conn::shutdown() const {
  std::error_code ec;
  shutdown(ec);
  check(ec, "shutdown");
}

void conn::close() const noexcept {
  if (impl_ != nullptr) impl_->close();
}

bool conn::is_open() const noexcept { return impl_ != nullptr && impl_->lower().is_open(); }

const net::conn& conn::lower() const noexcept {
  static const net::conn& none = *new net::conn;
  return impl_ != nullptr ? impl_->lower() : none;
}

version conn::agreed_version() const {
  return impl_ != nullptr ? impl_->agreed_version() : version::tls_1_2;
}
std::string conn::agreed_protocol() const {
  return impl_ != nullptr ? impl_->agreed_protocol() : std::string();
}
std::string conn::peer_name() const {
  return impl_ != nullptr ? impl_->peer_name() : std::string();
}

}  // namespace weft::inline v1::net::tls
