// module_map.hpp: turning an address into "module+offset" without malloc, locks or the dynamic linker.
#pragma once

#include "os/text.hpp"

namespace weft::os {

// Appends e.g. "server+0x1a2b" (what addr2line and debuggers take), or the bare address if no module has it.
void describe_address(text& out, const void* address) noexcept;

}  // namespace weft::os
