// host_port.cpp: addresses taken apart by Go's rules, which say of each faulty one which fault it has.
#include "net/port.hpp"

#include <weft/net/error.hpp>

namespace weft::networks {

namespace {

struct parts {
  std::string_view host;
  std::string_view port;
};

using net::errc;

bool has(std::string_view text, char c) noexcept { return text.find(c) != text.npos; }

// "[host]:port": the bracket decides what is host, so there may be colons in it.
parts split_bracketed(std::string_view text, std::error_code& ec) noexcept {
  const std::size_t close = text.find(']');
  if (close == text.npos) {
    ec = has(text, ':') ? errc::missing_bracket : errc::missing_port;
    return {};
  }
  const std::string_view host = text.substr(1, close - 1);
  const std::string_view rest = text.substr(close + 1);
  if (!rest.starts_with(':')) {
    ec = errc::missing_port;
  } else if (has(rest.substr(1), ':')) {
    ec = errc::too_many_colons;
  } else if (has(host, '[') || has(rest, '[')) {
    ec = errc::unexpected_open_bracket;
  } else if (has(rest, ']')) {
    ec = errc::unexpected_close_bracket;
  }
  return ec ? parts{} : parts{host, rest.substr(1)};
}

parts split_plain(std::string_view text, std::error_code& ec) noexcept {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    ec = errc::missing_port;
  } else if (has(text.substr(colon + 1), ':')) {
    ec = errc::too_many_colons;
  } else if (has(text, '[')) {
    ec = errc::unexpected_open_bracket;
  } else if (has(text, ']')) {
    ec = errc::unexpected_close_bracket;
  }
  return ec ? parts{} : parts{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

net::host_port split(std::string_view address, failure& failed) {
  std::error_code ec;
  const parts p =
      address.starts_with('[') ? split_bracketed(address, ec) : split_plain(address, ec);
  if (ec) failed.set(ec, "address " + std::string(address));
  return {std::string(p.host), std::string(p.port)};
}

}  // namespace weft::networks

namespace weft::inline v1::net {

host_port split_host_port(std::string_view address) {
  networks::failure failed;
  host_port both = networks::split(address, failed);
  failed.raise_if_any();
  return both;
}

host_port split_host_port(std::string_view address, std::error_code& ec) {
  networks::failure failed;
  host_port both = networks::split(address, failed);
  ec = failed.code;
  return both;
}

std::string join_host_port(std::string_view host, std::string_view port) {
  std::string all;
  all.reserve(host.size() + port.size() + 3);
  const bool needs_brackets = host.find(':') != host.npos;
  if (needs_brackets) all += '[';
  all += host;
  if (needs_brackets) all += ']';
  all += ':';
  all += port;
  return all;
}

std::string join_host_port(std::string_view host, std::uint16_t port) {
  return join_host_port(host, std::to_string(port));
}

}  // namespace weft::inline v1::net
