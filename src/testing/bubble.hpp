// bubble.hpp: a bubble from its beginning to its end, for testing::bubble() and testing::explore().
#pragma once

#include <cstdint>

#include <weft/testing/bubble.hpp>

namespace weft::testing_impl {

struct bubble_options {
  bool is_closed = false;  // sched/bubbles.hpp
  std::uint64_t seed = 0;  // of the order of timers
  const void* made_at = nullptr;
};

// In a goroutine, which becomes the keeper.
void run_bubble_here(testing::detail::bubble_call* call, const bubble_options& how);

}  // namespace weft::testing_impl
