// mutex.cpp: weft::mutex and weft::timed_mutex, from goroutines and from plain threads (B277 to B279, B303; misuse is in tests/death).
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

using namespace std::chrono_literals;

// B274's load, on the mutex.
TEST_FOR_PROCS(mutex, contended_by_ten_goroutines_counts_exactly) {
  weft::mutex m;
  int count = 0;
  weft::wait_group wg;
  for (int i = 0; i < 10; ++i) {
    wg.go([&] {
      for (int k = 0; k < weft::test::scaled(5000); ++k) {
        const std::lock_guard hold(m);
        ++count;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(count, 10 * weft::test::scaled(5000));
}

TEST_FOR_PROCS(mutex, held_across_a_switch_keeps_others_out) {
  weft::mutex m;
  int inside = 0;
  std::atomic<int> overlaps{0};
  weft::wait_group wg;
  for (int i = 0; i < 20; ++i) {
    wg.go([&] {
      for (int k = 0; k < weft::test::scaled(200); ++k) {
        const std::lock_guard hold(m);
        if (++inside != 1) ++overlaps;
        weft::yield();
        --inside;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(overlaps, 0);
}

TEST_FOR_PROCS(mutex, try_lock_never_waits_and_takes_what_is_free) {
  weft::mutex m;
  ASSERT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock());
  EXPECT_FALSE(weft::spawn([&] { return m.try_lock(); }).join());
  m.unlock();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST_FOR_PROCS(mutex, works_with_the_guards_of_the_standard) {
  weft::mutex a;
  weft::mutex b;
  {
    std::scoped_lock both(a, b);
    EXPECT_FALSE(a.try_lock());
    EXPECT_FALSE(b.try_lock());
  }
  std::unique_lock hold(a, std::try_to_lock);
  EXPECT_TRUE(hold.owns_lock());
  hold.unlock();
  std::unique_lock again(a, std::defer_lock);
  EXPECT_TRUE(again.try_lock());
}

// scoped_lock tries and backs off: two that take the same two in different orders do not block one another.
TEST_FOR_PROCS(mutex, scoped_locks_in_opposite_order_get_along) {
  weft::mutex a;
  weft::mutex b;
  int count = 0;
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([&, i] {
      for (int k = 0; k < weft::test::scaled(1000); ++k) {
        std::scoped_lock both(i % 2 ? a : b, i % 2 ? b : a);
        ++count;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(count, 4 * weft::test::scaled(1000));
}

// B303
TEST_FOR_PROCS(mutex, may_be_unlocked_by_another_goroutine) {
  weft::mutex m;
  m.lock();
  weft::go([&] { m.unlock(); });
  m.lock();
  weft::spawn([&] { m.unlock(); }).join();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

// B303
TEST_FOR_PROCS(mutex, a_thread_unlocks_what_a_goroutine_locked_and_the_other_way) {
  weft::mutex m;
  m.lock();
  std::thread t([&] {
    m.unlock();
    m.lock();
  });
  weft::blocking([&] { t.join(); });
  EXPECT_FALSE(m.try_lock());
  m.unlock();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST_FOR_PROCS(mutex, goroutines_and_plain_threads_share_one) {
  weft::mutex m;
  int count = 0;
  const auto work = [&] {
    for (int k = 0; k < weft::test::scaled(3000); ++k) {
      const std::lock_guard hold(m);
      ++count;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  weft::wait_group wg;
  for (int i = 0; i < 5; ++i) wg.go(work);
  wg.wait();
  weft::blocking([&] {
    for (auto& t : threads) t.join();
  });
  EXPECT_EQ(count, 8 * weft::test::scaled(3000));
}

TEST_FOR_PROCS(mutex, those_who_wait_all_get_it_in_the_end) {
  weft::mutex m;
  std::atomic<int> waiting{0};
  int got = 0;
  weft::wait_group wg;
  m.lock();
  for (int i = 0; i < 100; ++i) {
    wg.go([&] {
      ++waiting;
      const std::lock_guard hold(m);
      ++got;
    });
  }
  ASSERT_TRUE(weft::test::eventually([&] { return waiting == 100; }));
  EXPECT_EQ(got, 0);
  m.unlock();
  wg.wait();
  EXPECT_EQ(got, 100);
}

// B278: one holds it nearly always, the other sleeps between its locks; without the hand-over it could wait for ever.
TEST_FOR_PROCS(mutex_fairness, one_that_sleeps_between_gets_it_from_one_that_holds_it_always) {
  weft::mutex m;
  std::atomic<bool> stop{false};
  auto hog = weft::spawn([&] {
    while (!stop) {
      m.lock();
      weft::sleep_for(100us);
      m.unlock();
    }
  });
  for (int i = 0; i < 10; ++i) {
    weft::sleep_for(100us);
    m.lock();
    m.unlock();
  }
  stop = true;
  hog.join();
}

// The same against one that never sleeps: it takes it again the moment it is free, long before whoever was woken has come.
TEST_FOR_PROCS(mutex_fairness, a_waiter_gets_it_though_another_hammers_it) {
  weft::mutex m;
  std::atomic<bool> stop{false};
  std::atomic<long> nhammered{0};
  auto hammer = weft::spawn([&] {
    while (!stop) {
      m.lock();
      if (++nhammered % 64 == 0) weft::yield();  // now and then somebody sees it held
      m.unlock();
    }
  });
  for (int i = 0; i < 10; ++i) {
    const long before = nhammered;
    ASSERT_TRUE(weft::test::eventually([&] { return nhammered > before + 100; }));
    m.lock();
    m.unlock();
  }
  stop = true;
  hammer.join();
}

// HAZARD 51: the mutex lies in a block that is freed by whoever locks it last, as soon as it has.
TEST_FOR_PROCS(mutex_race, may_be_destroyed_by_whoever_had_it_last) {
  struct counted {
    weft::mutex m;
    int nrefs = 3;
  };
  const auto drop = [](counted* c) {
    c->m.lock();
    const bool is_last = --c->nrefs == 0;
    c->m.unlock();
    if (is_last) delete c;
  };
  for (int i = 0; i < weft::test::scaled(3000); ++i) {
    auto* const c = new counted;
    weft::wait_group wg;
    wg.go([&] { drop(c); });
    wg.go([&] { drop(c); });
    drop(c);
    wg.wait();
  }
}

TEST_FOR_PROCS(mutex_race, plain_threads_may_destroy_it_too) {
  struct counted {
    weft::mutex m;
    int nrefs = 2;
  };
  std::vector<counted*> all(weft::test::scaled(5000));
  for (auto& each : all) each = new counted;
  std::atomic<int> ndeleted{0};
  const auto drop_all = [&] {  // both go through them in the same order, and meet where they meet
    for (counted* const c : all) {
      c->m.lock();
      const bool is_last = --c->nrefs == 0;
      c->m.unlock();
      if (!is_last) continue;
      delete c;
      ++ndeleted;
    }
  };
  std::thread t(drop_all);
  drop_all();
  weft::blocking([&] { t.join(); });
  EXPECT_EQ(ndeleted, weft::test::scaled(5000));
}

// --- timed_mutex ---

TEST_FOR_PROCS(timed_mutex, gives_up_when_its_time_is_over_and_not_before) {
  weft::timed_mutex m;
  m.lock();
  auto h = weft::spawn([&] {
    const auto began = weft::clock::now();
    EXPECT_FALSE(m.try_lock_for(3ms));
    EXPECT_GE(weft::clock::now() - began, 3ms);
    EXPECT_FALSE(m.try_lock_until(std::chrono::steady_clock::now() + 1ms));
    EXPECT_FALSE(m.try_lock_for(0s));
    EXPECT_FALSE(m.try_lock_for(-1h));
  });
  h.join();
  m.unlock();
  EXPECT_TRUE(m.try_lock_for(0s)) << "who gave up has left nothing behind";
  m.unlock();
}

TEST_FOR_PROCS(timed_mutex, gets_it_when_it_is_freed_in_time) {
  weft::timed_mutex m;
  m.lock();
  std::atomic<bool> waits{false};
  auto h = weft::spawn([&] {
    waits = true;
    return m.try_lock_for(1h);
  });
  ASSERT_TRUE(weft::test::eventually([&] { return waits.load(); }));
  for (int i = 0; i < 10; ++i) weft::yield();
  m.unlock();
  EXPECT_TRUE(h.join());
  EXPECT_FALSE(m.try_lock());
  m.unlock();
}

TEST_FOR_PROCS(timed_mutex, works_from_a_plain_thread) {
  weft::timed_mutex m;
  m.lock();
  bool first = true;
  bool second = false;
  std::atomic<bool> gave_up{false};
  std::thread t([&] {
    first = m.try_lock_for(2ms);
    gave_up = true;
    second = m.try_lock_until(std::chrono::system_clock::now() + 1h);
    if (second) m.unlock();
  });
  ASSERT_TRUE(weft::test::eventually([&] { return gave_up.load(); }));
  m.unlock();
  weft::blocking([&] { t.join(); });
  EXPECT_FALSE(first);
  EXPECT_TRUE(second);
}

// Those who give up at the moment they are woken pass their turn on: nobody who waits without a limit is left asleep.
TEST_FOR_PROCS(timed_mutex_race, who_gives_up_takes_nobodys_wake_up_with_it) {
  weft::timed_mutex m;
  int count = 0;
  std::atomic<int> ngot{0};
  weft::wait_group wg;
  for (int i = 0; i < 6; ++i) {
    wg.go([&, i] {
      for (int k = 0; k < weft::test::scaled(300); ++k) {
        bool got = true;
        if (i % 2 == 0) {
          m.lock();
        } else {
          got = m.try_lock_for(std::chrono::microseconds(k % 40));
        }
        if (!got) continue;
        ++count;
        ++ngot;
        if (k % 3 == 0) weft::sleep_for(20us);
        m.unlock();
      }
    });
  }
  wg.wait();
  EXPECT_EQ(count, ngot);
  EXPECT_GE(ngot, 3 * weft::test::scaled(300));
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

}  // namespace
