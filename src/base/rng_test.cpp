// rng_test.cpp: random enough for scheduling.
#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace weft::base {
namespace {

TEST(rng, the_same_seed_gives_the_same_numbers_and_another_gives_others) {
  rng a(5);
  rng b(5);
  rng c(6);
  int equal = 0;
  for (int i = 0; i < 100; ++i) {
    const auto n = a.next();
    EXPECT_EQ(n, b.next());
    equal += n == c.next();
  }
  EXPECT_EQ(equal, 0);
}

TEST(rng, the_row_of_one_seed_can_be_had_number_by_number) {
  rng row(77);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(rng(77 + i * rng::kStep).next(), row.next());
}

TEST(rng, does_not_repeat_soon_also_from_a_seed_of_zero) {
  rng r(0);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(r.next()).second);
}

TEST(rng, below_stays_below_and_reaches_every_value) {
  rng r(1);
  for (const std::uint32_t n : {1u, 2u, 3u, 7u, 64u, 1000u}) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t i = 0; i < 20 * n; ++i) {
      const auto x = r.below(n);
      ASSERT_LT(x, n);
      seen.insert(x);
    }
    EXPECT_GT(seen.size(), n * 9 / 10);
  }
}

TEST(rng, bits_are_balanced) {
  rng r(42);
  std::array<int, 64> ones{};
  for (int i = 0; i < 10'000; ++i) {
    const auto n = r.next();
    for (std::size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>((n >> b) & 1u);
  }
  for (const int n : ones) {  // ten standard deviations
    EXPECT_GT(n, 4500);
    EXPECT_LT(n, 5500);
  }
}

}  // namespace
}  // namespace weft::base
