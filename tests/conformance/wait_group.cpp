// wait_group.cpp: weft::wait_group (B290-B293). A negative count is fatal and stands in tests/death.
#include <array>
#include <atomic>
#include <climits>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

TEST_FOR_PROCS(wait_group, wait_on_a_fresh_group_returns_at_once) {
  weft::wait_group wg;
  wg.wait();
  wg.wait();
}

// B290
TEST_FOR_PROCS(wait_group, wait_returns_only_after_all_are_done_and_the_group_is_reusable) {
  weft::wait_group wg;
  for (int round = 0; round < 8; ++round) {
    constexpr int kGoroutines = 16;
    std::atomic<int> ndone{0};
    std::atomic<int> nexited{0};
    weft::wait_group exited;
    wg.add(kGoroutines);
    exited.add(kGoroutines);
    for (int i = 0; i < kGoroutines; ++i) {
      weft::go([&] {
        ++ndone;
        wg.done();
        wg.wait();
        if (ndone != kGoroutines) ADD_FAILURE() << "let through after " << ndone;
        ++nexited;
        exited.done();
      });
    }
    wg.wait();
    EXPECT_EQ(ndone, kGoroutines);
    exited.wait();
    EXPECT_EQ(nexited, kGoroutines);
  }
}

TEST_FOR_PROCS(wait_group, add_takes_any_number_also_negative_ones) {
  weft::wait_group wg;
  wg.add(5);
  wg.add(-4);
  wg.add(0);
  std::atomic<bool> done{false};
  weft::go([&] {
    done = true;
    wg.done();
  });
  wg.wait();
  EXPECT_TRUE(done);
  wg.add(INT_MAX);
  wg.add(-INT_MAX);
  wg.wait();
}

TEST_FOR_PROCS(wait_group, go_counts_one_until_the_goroutine_ends) {
  weft::wait_group wg;
  std::atomic<int> sum{0};
  for (int i = 1; i <= 100; ++i) wg.go([&sum, i] { sum += i; });
  wg.wait();
  EXPECT_EQ(sum, 5050);
}

TEST_FOR_PROCS(wait_group, go_counts_down_when_the_goroutine_exits) {
  weft::wait_group wg;
  wg.go([] { weft::exit_goroutine(); });
  wg.wait();
}

TEST_FOR_PROCS(wait_group, go_that_cannot_start_does_not_count) {
  struct throws_when_copied {
    throws_when_copied() = default;
    throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copy"); }
    void operator()() const {}
  };
  weft::wait_group wg;
  const throws_when_copied bad;
  EXPECT_THROW(wg.go(bad), std::runtime_error);
  wg.wait();
}

TEST_FOR_PROCS(wait_group, what_was_done_before_done_is_visible_after_wait) {
  for (int i = 0; i < weft::test::scaled(500); ++i) {
    int plain[4] = {};
    weft::wait_group wg;
    for (int& n : plain) wg.go([&n, i] { n = i; });
    wg.wait();
    for (const int n : plain) ASSERT_EQ(n, i);
  }
}

// B292
TEST_FOR_PROCS(wait_group_race, wait_races_with_the_last_done) {
  for (int i = 0; i < weft::test::scaled(3000); ++i) {
    weft::wait_group wg;
    std::atomic<int> n{0};
    wg.add(2);
    weft::go([&] {
      ++n;
      wg.done();
    });
    weft::go([&] {
      ++n;
      wg.done();
    });
    wg.wait();
    ASSERT_EQ(n, 2);
  }
}

// B293
TEST_FOR_PROCS(wait_group_race, may_be_destroyed_right_after_wait) {
  for (int i = 0; i < weft::test::scaled(3000); ++i) {
    auto wg = std::make_unique<weft::wait_group>();
    wg->add(3);
    for (int k = 0; k < 3; ++k) weft::go([p = wg.get()] { p->done(); });
    if (i % 2 == 0) weft::yield();
    wg->wait();
    wg.reset();
    [[maybe_unused]] auto reused = std::make_unique<std::array<std::uint64_t, 3>>();
    reused->fill(0xA5A5A5A5A5A5A5A5u);
    ASSERT_EQ((*reused)[0], 0xA5A5A5A5A5A5A5A5u);
    ASSERT_EQ((*reused)[1], 0xA5A5A5A5A5A5A5A5u);
    ASSERT_EQ((*reused)[2], 0xA5A5A5A5A5A5A5A5u);
  }
}

TEST_FOR_PROCS(wait_group_race, may_be_used_again_right_after_wait) {
  weft::wait_group wg;
  for (int i = 0; i < weft::test::scaled(3000); ++i) {
    std::atomic<int> n{0};
    wg.add(2);
    weft::go([&] {
      ++n;
      wg.done();
    });
    weft::go([&] {
      ++n;
      wg.done();
    });
    wg.wait();
    ASSERT_EQ(n, 2);
  }
}

TEST_FOR_PROCS(wait_group_race, many_wait_for_one) {
  for (int i = 0; i < weft::test::scaled(200); ++i) {
    weft::wait_group wg;
    wg.add(1);
    std::atomic<int> early{0};
    std::atomic<bool> is_done{false};
    std::vector<weft::join_handle<void>> waiters;
    for (int w = 0; w < 8; ++w) {
      waiters.push_back(weft::spawn([&] {
        wg.wait();
        if (!is_done) ++early;
      }));
    }
    weft::go([&] {
      is_done = true;
      wg.done();
    });
    for (auto& w : waiters) w.join();
    ASSERT_EQ(early, 0);
  }
}

}  // namespace
