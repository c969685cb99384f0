// dial.cpp: from what the user wrote to a connection.
#include <string>

#include "net/connect.hpp"
#include "net/resolve.hpp"

#include <weft/net/dial.hpp>

namespace weft::inline v1::net {

namespace {

conn dial_somehow(std::string_view network_name, std::string_view text, const context& ctx,
                  networks::failure& failed) {
  const std::string about = "dial " + std::string(network_name);
  const auto net = networks::find_network(network_name);
  if (!net) {
    failed.set(errc::unknown_network, about);
    return {};
  }
  auto places = networks::resolve(ctx, network_name, text, networks::purpose::dial, failed);
  if (failed) {
    failed.about = about + ": " + failed.about;
    return {};
  }
  return networks::connect_to_any(ctx, *net, std::move(places), failed);
}

conn dial_or_throw(std::string_view network, std::string_view address, const context& ctx) {
  networks::failure failed;
  conn c = dial_somehow(network, address, ctx, failed);
  failed.raise_if_any();
  return c;
}

conn dial_or_say(std::string_view network, std::string_view address, const context& ctx,
                 std::error_code& ec) {
  networks::failure failed;
  conn c = dial_somehow(network, address, ctx, failed);
  ec = failed.code;
  return c;
}

}  // namespace

conn dial(std::string_view network, std::string_view address) {
  return dial_or_throw(network, address, {});
}
conn dial(std::string_view network, std::string_view address, const context& ctx) {
  return dial_or_throw(network, address, ctx);
}
conn dial(std::string_view network, std::string_view address, std::error_code& ec) {
  return dial_or_say(network, address, {}, ec);
}
conn dial(std::string_view network, std::string_view address, const context& ctx,
          std::error_code& ec) {
  return dial_or_say(network, address, ctx, ec);
}

}  // namespace weft::inline v1::net
