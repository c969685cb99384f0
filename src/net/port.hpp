// port.hpp: ports, by number or by name; and addresses taken apart, for those who say what failed in their own words.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "net/failure.hpp"
#include "net/network.hpp"

#include <weft/net/host_port.hpp>

namespace weft::networks {

net::host_port split(std::string_view address, failure& failed);

// errc::invalid_port; errc::unknown_port: a name that is not in the table here, and may be in the system's (net/lookup.hpp).
std::optional<std::uint16_t> parse_port(const network& of, std::string_view text,
                                        std::error_code& ec) noexcept;

// "unknown network tpc"
std::string about_network(std::string_view name);
std::string about_port(const network& of, std::string_view name);

}  // namespace weft::networks
