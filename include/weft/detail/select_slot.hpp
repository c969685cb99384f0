// select_slot.hpp: one case of a select as the library sees it. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/detail/channel.hpp>
#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

struct select_slot {
  channel* chan = nullptr;  // null: never ready
  void* elem = nullptr;     // where the value lies, or goes
  bool is_send = false;
  // The library's, and set by it when they are needed: where a case is ready at once they are not.
  bool is_last;              // to leave a channel that has no handles any more
  std::uint32_t poll_order;  // the i-th slot says which one is looked at i-th, and locked i-th
  std::uint32_t lock_order;
  alignas(8) std::byte record[48];  // its place in the channel's queue
};

struct selected {
  std::size_t index;  // kNone: none was ready, or the time was over
  passed how;         // done or closed
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Looks once; waits until then at most; kLastNs: for ever.
WEFT_API WEFT_MAY_SWITCH selected try_select(select_slot* slots, std::size_t n) noexcept;
WEFT_API WEFT_MAY_SWITCH selected select_until(select_slot* slots, std::size_t n,
                                               std::int64_t deadline_ns) noexcept;

}  // namespace weft::inline v1::detail
