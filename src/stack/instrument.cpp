// instrument.cpp: see instrument.hpp.

#include "stack/instrument.hpp"

#include <atomic>
#include <cstdint>

#include "os/vm_tools.hpp"

#include <weft/detail/frames.hpp>

namespace weft::stack {

namespace {

using detail::frames;

// The library's own; and the largest that a user has spoken of, perhaps before anything here is initialised.
constexpr frames kOurs = frames::WEFT_FRAMES;
constinit std::atomic<frames> expected{kOurs};

constexpr std::size_t bytes_for(frames f) noexcept {
  switch (f) {
    case frames::address_checked:
      return (std::size_t{1} << 20) - kGuardBytes;
    case frames::race_checked:
    case frames::unoptimised:
      return (std::size_t{512} << 10) - kGuardBytes;
    case frames::optimised:
      break;
  }
  return kDefaultBytes;
}

}  // namespace

void announce_stack(std::byte* lo, std::byte* hi) noexcept { os::register_stack(lo, hi); }

void forget_frames(head* stack) noexcept { os::unpoison(stack->lo, stack->usable()); }

std::size_t instrumented_segment_bytes() noexcept {
  if constexpr (kOurs == frames::race_checked) return std::size_t{4} << 30;
  return os::is_on_valgrind() ? std::size_t{64} << 20 : SIZE_MAX;
}

std::size_t expected_bytes() noexcept {
  return bytes_for(
      expected.load(std::memory_order_relaxed));  // a number, on which nothing else depends
}

}  // namespace weft::stack

namespace weft::inline v1::detail {

bool expect_frames(frames f) noexcept {
  frames seen = stack::expected.load(std::memory_order_relaxed);  // as above
  while (seen < f && !stack::expected.compare_exchange_weak(seen, f, std::memory_order_relaxed))
    continue;
  return true;
}

}  // namespace weft::inline v1::detail
