// poll_event.hpp: what a poller tells of a descriptor, whichever poller it is.
#pragma once

#include <cstdint>

namespace weft::os {

struct poll_event {
  std::uint64_t cookie;
  bool is_readable;
  bool is_writable;
  bool is_unusual;  // a hang-up, an error or urgent data, also of one direction only
};

// The deadline of one who does not wait.
inline constexpr std::int64_t kDoNotWait = 0;

}  // namespace weft::os
