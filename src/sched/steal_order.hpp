// steal_order.hpp: a random walk over 0..n-1 that visits each number once.
#pragma once

#include <cstdint>
#include <numeric>

namespace weft::sched {

class steal_order {
 public:
  steal_order(std::uint32_t n, std::uint32_t random) noexcept
      : n_(n), position_(random % n), stride_(coprime_to(n, random / n)) {}

  std::uint32_t position() const noexcept { return position_; }
  void step() noexcept { position_ = (position_ + stride_) % n_; }

 private:
  // A stride without a common factor with n: then n steps meet every position.
  static std::uint32_t coprime_to(std::uint32_t n, std::uint32_t random) noexcept {
    std::uint32_t stride = random % n;
    while (std::gcd(stride, n) != 1) stride = stride + 1 < n ? stride + 1 : 1;
    return stride;
  }

  std::uint32_t n_;
  std::uint32_t position_;
  std::uint32_t stride_;
};

}  // namespace weft::sched
