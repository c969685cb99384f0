// recursive_mutex.cpp: weft::recursive_mutex belongs to a goroutine, whatever thread that is on (misuse is in tests/death).
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

TEST_FOR_PROCS(recursive_mutex, its_holder_locks_it_again_and_others_wait_for_the_last_unlock) {
  weft::recursive_mutex m;
  m.lock();
  m.lock();
  EXPECT_TRUE(m.try_lock());
  std::atomic<bool> got{false};
  weft::event tried;
  auto other = weft::spawn([&] {
    EXPECT_FALSE(m.try_lock());
    tried.set();
    const std::lock_guard hold(m);
    got = true;
  });
  tried.wait();
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 10; ++k) weft::yield();
    EXPECT_FALSE(got);
    m.unlock();
  }
  other.join();
  EXPECT_TRUE(got);
}

TEST_FOR_PROCS(recursive_mutex, is_held_by_the_goroutine_across_switches) {
  weft::recursive_mutex m;
  int count = 0;
  std::atomic<int> overlaps{0};
  int inside = 0;
  weft::wait_group wg;
  for (int i = 0; i < 10; ++i) {
    wg.go([&] {
      for (int k = 0; k < weft::test::scaled(100); ++k) {
        const std::lock_guard outer(m);
        if (++inside != 1) ++overlaps;
        weft::yield();
        {
          const std::lock_guard inner(m);
          ++count;
        }
        --inside;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(count, 10 * weft::test::scaled(100));
}

TEST_FOR_PROCS(recursive_mutex, goroutines_and_plain_threads_share_one) {
  weft::recursive_mutex m;
  int count = 0;
  const auto work = [&] {
    for (int k = 0; k < weft::test::scaled(1000); ++k) {
      const std::scoped_lock outer(m);
      const std::scoped_lock inner(m);
      ++count;
    }
  };
  std::thread a(work);
  std::thread b(work);
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) wg.go(work);
  wg.wait();
  weft::blocking([&] {
    a.join();
    b.join();
  });
  EXPECT_EQ(count, 6 * weft::test::scaled(1000));
}

}  // namespace
