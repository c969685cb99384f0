// destroy.cpp: what may be destroyed while others have not come back from it yet.
#include <cstring>
#include <memory>
#include <new>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// On one P a goroutine that has counted itself and does not run any more is parked. docs/design/memory-model.md says what holds for
// waiters that are not.
TEST(wait_group_destroyed, by_the_first_of_several_parked_waiters) {
  weft::test::run_on(1, [] {
    for (int i = 0; i < weft::test::scaled(300); ++i) {
      constexpr int kWaiters = 5;
      auto group = std::make_unique<weft::wait_group>();
      weft::wait_group* const wg = group.get();
      wg->add(1);
      int nparked = 0;
      int nreturned = 0;
      weft::wait_group all;
      for (int n = 0; n < kWaiters; ++n) {
        all.go([&] {
          ++nparked;
          wg->wait();
          if (nreturned++ != 0) return;
          EXPECT_EQ(nparked, kWaiters);
          group.reset();
          const auto reused = std::make_unique<unsigned char[]>(sizeof(weft::wait_group));
          std::memset(reused.get(), 0xA5, sizeof(weft::wait_group));
          weft::yield();  // the others return
          for (std::size_t b = 0; b < sizeof(weft::wait_group); ++b) ASSERT_EQ(reused[b], 0xA5);
        });
      }
      ASSERT_TRUE(weft::test::eventually([&] { return nparked == kWaiters; }));
      ASSERT_EQ(nreturned, 0);
      weft::go([wg] { wg->done(); });
      all.wait();
      EXPECT_EQ(nreturned, kWaiters);
    }
  });
}

}  // namespace
