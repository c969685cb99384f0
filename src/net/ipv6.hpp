// ipv6.hpp: can this machine use IPv6 at all?
#pragma once

namespace weft::networks {

// A socket of IPv6 can be made and bound to [::1]. Tried once; what fails for want of descriptors or memory is tried again.
bool ipv6_works() noexcept;

}  // namespace weft::networks
