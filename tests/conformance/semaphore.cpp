// semaphore.cpp: weft::semaphore (B274, B275; misuse is in tests/death).
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

using namespace std::chrono_literals;

// B274
TEST_FOR_PROCS(semaphore, ten_goroutines_take_and_give_back_a_thousand_times) {
  weft::semaphore s(1);
  int count = 0;
  weft::wait_group wg;
  for (int i = 0; i < 10; ++i) {
    wg.go([&] {
      for (int k = 0; k < weft::test::scaled(1000); ++k) {
        s.acquire();
        ++count;
        s.release();
      }
    });
  }
  wg.wait();
  EXPECT_EQ(count, 10 * weft::test::scaled(1000));
}

TEST_FOR_PROCS(semaphore, no_more_than_there_is_are_inside) {
  constexpr std::int64_t kAll = 7;
  weft::semaphore s(kAll);
  std::atomic<std::int64_t> inside{0};
  std::atomic<int> too_many{0};
  weft::wait_group wg;
  for (int i = 0; i < 20; ++i) {
    wg.go([&, i] {
      for (int k = 0; k < weft::test::scaled(200); ++k) {
        const std::int64_t n = 1 + (i + k) % kAll;
        s.acquire(n);
        if ((inside += n) > kAll) ++too_many;
        if (k % 4 == 0) weft::yield();
        inside -= n;
        s.release(n);
      }
    });
  }
  wg.wait();
  EXPECT_EQ(too_many, 0);
  EXPECT_TRUE(s.try_acquire(kAll)) << "all of it is back";
}

// B275: what is given back goes to the first that waits, though the one who gave it asks again at once.
TEST_FOR_PROCS(semaphore, what_is_given_back_goes_to_whoever_waits) {
  weft::semaphore s(2);
  std::vector<int> order;
  constexpr int kRounds = weft::test::scaled(500);
  s.acquire();
  auto other = weft::spawn([&] {
    for (int i = 0; i < kRounds; ++i) {
      s.acquire(2);
      order.push_back(1);
      s.release(2);
    }
  });
  // There is one left that it cannot use; nobody else gets it once it waits.
  ASSERT_TRUE(weft::test::eventually([&] {
    if (!s.try_acquire()) return true;
    s.release();
    return false;
  }));
  s.release();
  s.acquire(2);
  EXPECT_FALSE(order.empty()) << "it was served before us";
  s.release(2);
  other.join();
  EXPECT_EQ(order.size(), static_cast<std::size_t>(kRounds));
}

TEST_FOR_PROCS(semaphore, a_large_request_is_not_starved_by_small_ones) {
  weft::semaphore s(4);
  std::atomic<bool> stop{false};
  std::atomic<int> ninside{0};
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([&] {
      while (!stop) {
        s.acquire();
        ++ninside;
        weft::yield();
        --ninside;
        s.release();
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    ASSERT_TRUE(weft::test::eventually([&] { return ninside >= 3; }));
    s.acquire(4);  // they never leave all four at once by themselves
    s.release(4);
  }
  stop = true;
  wg.wait();
}

TEST_FOR_PROCS(semaphore, try_acquire_never_waits_and_does_not_push_in) {
  weft::semaphore s(3);
  EXPECT_TRUE(s.try_acquire(2));
  EXPECT_FALSE(s.try_acquire(2));
  auto waits = weft::spawn([&] { s.acquire(2); });
  ASSERT_TRUE(weft::test::eventually([&] {
    if (!s.try_acquire(1)) return true;  // there is one, but somebody waits
    s.release(1);
    weft::yield();
    return false;
  }));
  s.release(2);
  waits.join();
  EXPECT_TRUE(s.try_acquire(1));
  EXPECT_TRUE(s.try_acquire(0));
}

TEST_FOR_PROCS(semaphore, more_than_there_is_in_all_is_refused) {
  weft::semaphore s(2);
  EXPECT_THROW(s.acquire(3), std::invalid_argument);
  EXPECT_THROW(s.acquire(-1), std::invalid_argument);
  EXPECT_FALSE(s.try_acquire(3));
  EXPECT_FALSE(s.try_acquire_for(3, 1h));
  EXPECT_FALSE(s.try_acquire_until(3, weft::clock::now() + 1h));
  EXPECT_THROW((void)s.try_acquire(-1), std::invalid_argument);
  EXPECT_THROW(weft::semaphore(-1), std::invalid_argument);
  EXPECT_THROW(weft::semaphore(weft::semaphore::max() + 1), std::invalid_argument);
  s.acquire(2);
  EXPECT_FALSE(s.try_acquire());
  s.release(2);
}

TEST_FOR_PROCS(semaphore, gives_up_when_its_time_is_over_and_takes_nothing) {
  weft::semaphore s(2);
  s.acquire();
  const auto began = weft::clock::now();
  EXPECT_FALSE(s.try_acquire_for(2, 2ms));
  EXPECT_GE(weft::clock::now() - began, 2ms);
  EXPECT_FALSE(s.try_acquire_until(2, std::chrono::system_clock::now() + 1ms));
  EXPECT_FALSE(s.try_acquire_for(2, 0s));
  EXPECT_TRUE(s.try_acquire_for(1ms));
  EXPECT_FALSE(s.try_acquire_until(weft::clock::now() + 1ms));
  s.release(2);
  EXPECT_TRUE(s.try_acquire(2));
}

TEST_FOR_PROCS(semaphore, when_a_large_request_gives_up_those_behind_it_get_on) {
  weft::semaphore s(3);
  s.acquire(1);
  std::atomic<bool> is_over{false};
  std::atomic<bool> is_served{false};
  auto large = weft::spawn([&] {
    const bool got = s.try_acquire_for(3, 20ms);
    is_over = true;
    return got;
  });
  ASSERT_TRUE(weft::test::eventually([&] {
    if (is_over || !s.try_acquire(1)) return true;  // it waits, or has waited already
    s.release(1);
    return false;
  }));
  auto small = weft::spawn([&] {
    s.acquire(1);
    is_served = true;
  });
  EXPECT_FALSE(large.join());
  small.join();
  EXPECT_TRUE(is_served);
}

TEST_FOR_PROCS(semaphore, goroutines_and_plain_threads_share_one) {
  weft::semaphore s(3);
  std::atomic<int> inside{0};
  std::atomic<int> too_many{0};
  std::atomic<int> done{0};
  const auto work = [&] {
    for (int k = 0; k < weft::test::scaled(500); ++k) {
      const int n = 1 + k % 3;
      if (k % 5 == 0) {
        if (!s.try_acquire_for(n, 50us)) continue;
      } else {
        s.acquire(n);
      }
      if ((inside += n) > 3) ++too_many;
      inside -= n;
      s.release(n);
    }
    ++done;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) wg.go(work);
  wg.wait();
  weft::blocking([&] {
    for (auto& t : threads) t.join();
  });
  EXPECT_EQ(done, 7);
  EXPECT_EQ(too_many, 0);
  EXPECT_TRUE(s.try_acquire(3));
}

// HAZARD 51: whoever gets the last of it may destroy it.
TEST_FOR_PROCS(semaphore_race, may_be_destroyed_right_after_acquire) {
  for (int i = 0; i < weft::test::scaled(2000); ++i) {
    auto s = std::make_unique<weft::semaphore>(2);
    s->acquire(2);
    auto a = weft::spawn([p = s.get()] { p->release(1); });
    auto b = weft::spawn([p = s.get()] { p->release(1); });
    s->acquire(1);
    s->acquire(1);
    s.reset();
    a.join();
    b.join();
  }
}

}  // namespace
