// waiters.hpp: room for those who wait at something: the library knows what is in it.
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

// The ends of a queue of records that lie in the frames of those who wait. Empty when nobody waits.
struct waiter_queue {
  void* first = nullptr;
  void* last = nullptr;
};

// A queue, and the lock it is used under.
struct waiters {
  std::atomic<std::uint32_t> lock{0};
  waiter_queue queue;
};

}  // namespace weft::inline v1::detail
