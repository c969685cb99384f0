// tokens.cpp: random programs that pass tokens around in every way at once (support/token_market.hpp): none is lost, none is doubled.
//
// WEFT_MARKETS=200 for so many of them in one go; the seed of each is printed before it begins, so that one that hangs can be named.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/token_market.hpp"

namespace {

int count_markets() {
  const char* const given = std::getenv("WEFT_MARKETS");
  return given != nullptr ? std::atoi(given) : 1;
}

TEST_FOR_PROCS(tokens, none_is_lost_and_none_is_doubled_in_random_programs) {
  const std::uint64_t first = weft::test::seed();
  for (int i = 0; i < count_markets(); ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    std::printf("market %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    const auto r = weft::test::run_market({.seed = seed, .nsteps = weft::test::scaled(100)});
    EXPECT_TRUE(r.is_even) << "WEFT_TEST_SEED=" << seed << ": " << r.what;
    EXPECT_GT(r.nchan_ops, 50u);
    EXPECT_GT(r.nspawned, 50u);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(tokens, with_100000_goroutines_asleep_beside_it) {
  weft::test::run_on(2, [] {
    const int nasleep = weft::test::scaled(weft::test::is_migrating() ? 1000 : 100'000);
    const auto wake = weft::make_chan<void>();
    std::atomic<int> nwoken{0};
    weft::wait_group all;
    for (int i = 0; i < nasleep; ++i) {
      all.go([&] {
        wake.recv();
        ++nwoken;
      });
    }
    const auto r =
        weft::test::run_market({.seed = weft::test::seed(), .nsteps = weft::test::scaled(60)});
    EXPECT_TRUE(r.is_even) << r.what;
    EXPECT_GE(weft::num_goroutines(), static_cast<std::size_t>(nasleep));
    wake.close();
    all.wait();
    EXPECT_EQ(nwoken, nasleep);
  });
}

// Few random choices, many operations: rings of goroutines hand a token on, and trees of goroutines are started, side by side.
TEST_FOR_PROCS(tokens, ten_million_sends_and_receives_and_a_million_goroutines) {
  const bool is_slow = weft::test::is_migrating();
  const int nrings = 20;
  const int nhops = weft::test::scaled(
      is_slow ? 2'000 : 84'000);  // of 4 operations for two: 10^7 on 1, 2 and 4 Ps together
  const int nspawns = weft::test::scaled(is_slow ? 500 : 17'000);
  std::atomic<long> nhopped{0};
  std::atomic<long> nran{0};
  weft::wait_group all;
  for (int r = 0; r < nrings; ++r) {
    const auto left = weft::make_chan<int>(static_cast<std::size_t>(r % 3));
    const auto right = weft::make_chan<int>(static_cast<std::size_t>(r % 2));
    all.go([=, &nhopped] {
      for (int i = 0; i < nhops / 2; ++i) {
        left.send(i);
        if (right.recv() == i) ++nhopped;
      }
      left.close();
    });
    all.go([=, &nhopped] {
      for (const int i : left) {
        ++nhopped;
        right.send(i);
      }
    });
    all.go([&nran, nspawns] {
      weft::wait_group children;
      for (int i = 0; i < nspawns; ++i) {
        children.go([&nran] { ++nran; });
        if (i % 100 == 0) children.wait();
      }
      children.wait();
    });
  }
  all.wait();
  EXPECT_EQ(nhopped, 2L * nrings * (nhops / 2));
  EXPECT_EQ(nran, long{nrings} * nspawns);
}

}  // namespace
