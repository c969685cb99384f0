// steal_order_test.cpp: the walk meets every victim once (B004).
#include "sched/steal_order.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace weft::sched {
namespace {

TEST(steal_order, visits_every_p_exactly_once_for_any_count_and_any_start) {
  for (std::uint32_t n = 1; n <= 64; ++n) {
    for (std::uint32_t random = 0; random < n * n; ++random) {  // every start with every stride
      std::vector<int> visits(n, 0);
      steal_order order(n, random);
      for (std::uint32_t i = 0; i < n; ++i, order.step()) {
        ASSERT_LT(order.position(), n);
        ++visits[order.position()];
      }
      for (const int v : visits) ASSERT_EQ(v, 1) << n << " Ps, random " << random;
    }
  }
}

TEST(steal_order, works_for_the_largest_count_and_any_random_number) {
  for (const std::uint32_t random : {0u, 1u, 4095u, 4096u, 12345u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    std::set<std::uint32_t> seen;
    steal_order order(4096, random);
    for (int i = 0; i < 4096; ++i, order.step()) seen.insert(order.position());
    EXPECT_EQ(seen.size(), 4096u);
  }
}

TEST(steal_order, starts_everywhere_and_goes_different_ways) {
  std::set<std::uint32_t> starts;
  std::set<std::vector<std::uint32_t>> ways;
  for (std::uint32_t random = 0; random < 64; ++random) {
    steal_order order(8, random);
    starts.insert(order.position());
    std::vector<std::uint32_t> way;
    for (int i = 0; i < 8; ++i, order.step()) way.push_back(order.position());
    ways.insert(way);
  }
  EXPECT_EQ(starts.size(), 8u);
  EXPECT_EQ(ways.size(), 8u * 4u) << "four numbers below 8 have no factor in common with it";
}

}  // namespace
}  // namespace weft::sched
