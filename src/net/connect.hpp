// connect.hpp: a connection to one address, and to the first of several that answers.
#pragma once

#include <vector>

#include "net/failure.hpp"
#include "net/network.hpp"

#include <weft/context.hpp>
#include <weft/net/address.hpp>
#include <weft/net/conn.hpp>

namespace weft::networks {

// Until the context ends; a null one never does.
WEFT_MAY_SWITCH net::conn connect(const context& ctx, const network& net, const net::address& to,
                                  std::error_code& ec);

// One after the other. Each gets its share of the time that is left; the first failure is told.
WEFT_MAY_SWITCH net::conn connect_in_order(const context& ctx, const network& net,
                                           const std::vector<net::address>& places,
                                           failure& failed);

// As RFC 8305 has it: those of the other kind of address beside, if the first kind has not answered soon.
WEFT_MAY_SWITCH net::conn connect_to_any(const context& ctx, const network& net,
                                         std::vector<net::address> places, failure& failed);

}  // namespace weft::networks
