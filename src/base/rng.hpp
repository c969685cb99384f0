// rng.hpp: a quick random number generator for scheduling choices; one per thread, never shared, not for secrets.
#pragma once

#include <cstdint>

namespace weft::base {

// A 64-bit counter whose every value is scrambled by two multiplications: three dependent operations a number, any
// seed is a good seed.
class rng {
 public:
  // From one number to the next: rng(seed + i * kStep).next() is the number after the i-th that rng(seed) gives.
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;

  constexpr explicit rng(std::uint64_t seed = 1) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += kStep;
    std::uint64_t z = state_;
    z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93u;
    z = (z ^ (z >> 29)) * 0xA0761D6478BD642Fu;
    return z ^ (z >> 32);
  }

  // Uniform enough in [0, n) for n far below 2^32.
  constexpr std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace weft::base
