// dial.cpp: connections from others, and from an address.
#include <stdexcept>
#include <string>

#include "net/tls/session.hpp"

#include <weft/net/dial.hpp>
#include <weft/net/host_port.hpp>
#include <weft/net/tls.hpp>

namespace weft::inline v1::net::tls {

namespace {

using detail::access;
using detail::session;

// What is dialled, as the certificate must name it: ":443" is this machine. A path is no name.
std::string host_of(std::string_view network, std::string_view address) {
  if (network == "unix") return {};
  std::error_code ec;
  const std::string host = split_host_port(address, ec).host;
  return !ec && host.empty() ? "localhost" : host;
}

void check_network(std::string_view network) {
  if (network != "tcp" && network != "tcp4" && network != "tcp6" && network != "unix")
    throw std::system_error(
        make_error_code(std::errc::protocol_not_supported),
        "tls: the network is none of tcp, tcp4, tcp6 and unix: " + std::string(network));
}

}  // namespace

conn client(net::conn under, const client_config& config, std::string_view name) {
  return access::make_conn(
      std::make_shared<session>(std::move(under), access::settings_of(config), name));
}

conn server(net::conn under, const server_config& config) {
  return access::make_conn(
      std::make_shared<session>(std::move(under), access::settings_of(config), ""));
}

conn dial(std::string_view network, std::string_view address, const client_config& config,
          const context& ctx, std::error_code& ec) {
  try {
    check_network(network);
  } catch (const std::system_error& e) {
    ec = e.code();
    return {};
  }
  net::conn under = net::dial(network, address, ctx, ec);
  if (ec) return {};
  conn c = client(std::move(under), config, host_of(network, address));
  c.handshake(ctx, ec);
  if (ec) c.close();
  return ec ? conn() : c;
}

conn dial(std::string_view network, std::string_view address, const client_config& config,
          const context& ctx) {
  check_network(network);
  conn c = client(net::dial(network, address, ctx), config, host_of(network, address));
  std::error_code ec;
  c.handshake(ctx, ec);
  if (!ec) return c;
  c.close();
  throw std::system_error(ec, "tls " + std::string(address));
}

conn dial(std::string_view network, std::string_view address, const client_config& config) {
  return dial(network, address, config, context());
}

conn dial(std::string_view network, std::string_view address, const client_config& config,
          std::error_code& ec) {
  return dial(network, address, config, context(), ec);
}

}  // namespace weft::inline v1::net::tls
