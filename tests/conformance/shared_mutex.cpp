// shared_mutex.cpp: weft::shared_mutex (B280, B281, B283; misuse is in tests/death).
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// B280
TEST_FOR_PROCS(shared_mutex, readers_are_inside_together) {
  weft::shared_mutex m;
  for (int n : {1, 3, 4, 2, 10}) {
    std::atomic<int> inside{0};
    weft::wait_group wg;
    for (int i = 0; i < n; ++i) {
      wg.go([&] {
        std::shared_lock hold(m);
        ++inside;
        while (inside < n) weft::yield();  // only if all get in does anybody leave
      });
    }
    wg.wait();
    ASSERT_EQ(inside, n);
  }
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

// B280: ten mixtures of readers and writers.
TEST_FOR_PROCS(shared_mutex, writers_are_alone_and_readers_see_whole_changes) {
  for (int nreaders = 1; nreaders <= 10; ++nreaders) {
    weft::shared_mutex m;
    int a = 0;
    int b = 0;
    std::atomic<int> torn{0};
    weft::wait_group wg;
    constexpr int kRounds = weft::test::scaled(300);
    for (int i = 0; i < 2; ++i) {
      wg.go([&] {
        for (int k = 0; k < kRounds; ++k) {
          std::unique_lock hold(m);
          ++a;
          if (k % 16 == 0) weft::yield();
          ++b;
        }
      });
    }
    for (int i = 0; i < nreaders; ++i) {
      wg.go([&] {
        for (int k = 0; k < kRounds; ++k) {
          std::shared_lock hold(m);
          const int seen = a;
          if (k % 16 == 0) weft::yield();
          if (seen != b) ++torn;
        }
      });
    }
    wg.wait();
    ASSERT_EQ(torn, 0);
    ASSERT_EQ(a, 2 * kRounds);
    ASSERT_EQ(b, 2 * kRounds);
  }
}

// B281
TEST_FOR_PROCS(shared_mutex, a_writer_that_waits_keeps_new_readers_out) {
  weft::shared_mutex m;
  m.lock_shared();
  std::atomic<int> nread{0};
  int written = 0;
  auto writer = weft::spawn([&] {
    std::unique_lock hold(m);
    EXPECT_EQ(nread, 0);
    written = 1;
  });
  ASSERT_TRUE(weft::test::eventually([&] {
    if (!m.try_lock_shared()) return true;  // the writer is there
    m.unlock_shared();
    return false;
  }));
  auto reader = weft::spawn([&] {
    std::shared_lock hold(m);
    ++nread;
    return written;
  });
  for (int i = 0; i < 50; ++i) weft::yield();
  EXPECT_EQ(nread, 0);
  m.unlock_shared();
  EXPECT_EQ(reader.join(), 1) << "after the writer";
  writer.join();
}

// B281: readers that overlap all the time do not keep a writer out.
TEST_FOR_PROCS(shared_mutex, writers_are_not_starved_by_readers_nor_the_other_way) {
  weft::shared_mutex m;
  std::atomic<bool> stop{false};
  std::atomic<long> nread{0};
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([&] {
      while (!stop) {
        std::shared_lock hold(m);
        ++nread;
        weft::yield();
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    const long before = nread;
    {
      std::unique_lock hold(m);
    }
    ASSERT_TRUE(weft::test::eventually([&] { return nread > before; }));
  }
  stop = true;
  wg.wait();
}

// Whoever has written lets those read that came meanwhile, before the next one writes: else two writers would keep them out for ever.
TEST_FOR_PROCS(shared_mutex, readers_get_in_though_two_write_all_the_time) {
  weft::shared_mutex m;
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  weft::wait_group writers;
  for (int i = 0; i < 2; ++i) {
    writers.go([&] {
      while (!stop) {
        std::unique_lock hold(m);
        ++written;
        weft::yield();  // the other one waits, and the readers
      }
    });
  }
  ASSERT_TRUE(weft::test::eventually([&] { return written > 10; }));
  weft::wait_group readers;
  std::atomic<int> nread{0};
  for (int i = 0; i < 3; ++i) {
    readers.go([&] {
      for (int k = 0; k < weft::test::scaled(50); ++k) {
        weft::yield();  // each time it has to get in anew
        std::shared_lock hold(m);
        ++nread;
      }
    });
  }
  readers.wait();
  stop = true;
  writers.wait();
  EXPECT_EQ(nread, 3 * weft::test::scaled(50));
}

TEST_FOR_PROCS(shared_mutex, try_forms_never_wait) {
  weft::shared_mutex m;
  ASSERT_TRUE(m.try_lock_shared());
  EXPECT_TRUE(m.try_lock_shared());
  EXPECT_FALSE(m.try_lock());
  m.unlock_shared();
  m.unlock_shared();
  ASSERT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock_shared());
  EXPECT_FALSE(m.try_lock());
  m.unlock();
}

// B303 for both ways.
TEST_FOR_PROCS(shared_mutex, belongs_to_nobody) {
  weft::shared_mutex m;
  m.lock_shared();
  weft::spawn([&] { m.unlock_shared(); }).join();
  m.lock();
  std::thread t([&] { m.unlock(); });
  weft::blocking([&] { t.join(); });
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST_FOR_PROCS(shared_mutex, goroutines_and_plain_threads_share_one) {
  weft::shared_mutex m;
  int count = 0;
  std::atomic<int> odd{0};
  constexpr int kRounds = weft::test::scaled(1000);
  const auto work = [&] {
    for (int k = 0; k < kRounds; ++k) {
      if (k % 4 == 0) {
        std::unique_lock hold(m);
        ++count;
        ++count;
      } else {
        std::shared_lock hold(m);
        if (count % 2 != 0) ++odd;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) wg.go(work);
  wg.wait();
  weft::blocking([&] {
    for (auto& t : threads) t.join();
  });
  EXPECT_EQ(odd, 0);
  EXPECT_EQ(count, 7 * 2 * ((kRounds + 3) / 4));
}

// HAZARD 51: the reader that finds the writer's mark destroys it, while the writer may still be on its way out of unlock().
TEST_FOR_PROCS(shared_mutex_race, may_be_destroyed_by_whoever_had_it_last) {
  struct object {
    weft::shared_mutex m;
    bool is_done = false;
  };
  for (int i = 0; i < weft::test::scaled(2000); ++i) {
    auto* const o = new object;
    auto writer = weft::spawn([o] {
      o->m.lock();
      o->is_done = true;
      o->m.unlock();
    });
    for (bool is_done = false; !is_done; weft::yield()) {
      o->m.lock_shared();
      is_done = o->is_done;
      o->m.unlock_shared();
    }
    delete o;
    writer.join();
  }
}

}  // namespace
