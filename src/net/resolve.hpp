// resolve.hpp: from what the user wrote ("tcp", "localhost:http") to the addresses to try.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "net/failure.hpp"

#include <weft/context.hpp>
#include <weft/net/address.hpp>

namespace weft::networks {

enum class purpose : std::uint8_t { dial, listen };

// At least one address, or failed says why there is none. A null context never ends.
//   host:port   all addresses of the host that the network takes, in the system's order
//   :port       dial: this machine, 127.0.0.1 and [::1]; listen: every address, [::] where IPv6 works (which then also takes IPv4, if the
//               socket is not told otherwise and the network is not one of "..6"), else 0.0.0.0
//   path, @name one of a Unix network
//   nothing     listen: any address of the system's choice; dial: errc::missing_address
WEFT_MAY_SWITCH std::vector<net::address> resolve(const context& ctx, std::string_view network_name,
                                                  std::string_view text, purpose why,
                                                  failure& failed);

}  // namespace weft::networks
