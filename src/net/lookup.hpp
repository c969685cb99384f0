// lookup.hpp: names that are looked up, inside the library.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/failure.hpp"
#include "net/ip.hpp"
#include "net/network.hpp"

#include <weft/context.hpp>

namespace weft::networks {

// Could this be the name of a host? What cannot is not asked for.
bool is_host_name(std::string_view name) noexcept;

// The addresses of a host; of an IP address itself, at once. A null context never ends. Failed: none.
WEFT_MAY_SWITCH std::vector<ip> find_host(const context& ctx, std::string_view name,
                                          failure& failed);

// By number, by our table, by the system's.
WEFT_MAY_SWITCH std::optional<std::uint16_t> find_port(const context& ctx, const network& of,
                                                       std::string_view name, failure& failed);

}  // namespace weft::networks
