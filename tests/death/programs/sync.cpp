// sync.cpp: synchronisation objects that are used wrongly, and what a dump says of those who wait at them.
#include <atomic>
#include <chrono>
#include <mutex>

#include "scenario.hpp"

using namespace scenario;

SCENARIO(mutex_unlock_of_unlocked) {
  weft::run([] {
    weft::mutex m;
    m.lock();
    m.unlock();
    weft::spawn({.name = "culprit"}, [&] { m.unlock(); }).join();
  });
}
SCENARIO(mutex_unlock_of_unlocked_on_a_plain_thread) {
  weft::mutex m;
  m.unlock();
}
// Somebody waits, but it is free: an unlock too many is found all the same.
SCENARIO(timed_mutex_unlock_of_unlocked) {
  weft::run([] {
    weft::timed_mutex m;
    REQUIRE(m.try_lock_for(1s));
    m.unlock();
    m.unlock();
  });
}
// A mutex of the system belongs to a thread, and the goroutine may come back on another.
SCENARIO(std_mutex_held_across_a_yield) {
  weft::run({.max_procs = 2}, [] {
    std::mutex m;
    m.lock();
    weft::yield();
    m.unlock();
  });
  say("nobody minded");
}
// What is right: to let go of it first, to be locked to one's thread, or to have one of weft's.
SCENARIO(mutexes_held_as_they_may_be) {
  weft::run({.max_procs = 2}, [] {
    std::mutex m;
    weft::mutex ours;
    weft::wait_group wg;
    for (int i = 0; i < 3; ++i) {
      wg.go([&] {
        for (int k = 0; k < 20; ++k) {
          {
            const std::lock_guard held(m);
          }
          const std::lock_guard held(ours);
          weft::yield();
        }
      });
      wg.go([] {
        weft::lock_os_thread();
        std::mutex its;
        for (int k = 0; k < 20; ++k) {
          const std::lock_guard held(its);
          weft::yield();
        }
        weft::unlock_os_thread();
        weft::yield();
      });
    }
    wg.wait();
  });
  say("nobody minded");
}
SCENARIO(deadlock_mutex) {
  weft::run([] {
    weft::mutex m;
    m.lock();
    m.lock();
  });
}
// The mutex outlives a runtime whose goroutines wait at it, one of them woken and never run.
SCENARIO(mutex_outlives_its_waiters) {
  static weft::mutex shared;
  static std::atomic<bool> is_inside{false};
  for (int i = 0; i < 3; ++i) {
    weft::run({.max_procs = 1}, [] {
      shared.lock();
      for (int k = 0; k < 5; ++k)
        weft::go([] {
          shared.lock();
          is_inside = true;
          shared.unlock();
          is_inside = false;
          wait_for_ever();
        });
      weft::yield();
      const weft::no_preempt until_the_end;
      shared.unlock();  // wakes the first; main ends before it runs
    });
    weft::run([] {
      // While the runtime ended one may have got as far as having it, and was left behind there: that is what its program gets.
      if (is_inside.exchange(false)) {
        (void)shared.try_lock();
        shared.unlock();
      }
      int count = 0;
      weft::wait_group all;
      for (int k = 0; k < 5; ++k)
        all.go([&] {
          for (int n = 0; n < 100; ++n) {
            const std::lock_guard hold(shared);
            ++count;
            weft::yield();
          }
        });
      all.wait();
      REQUIRE(count == 500);
    });
  }
}
SCENARIO(once_inside_itself) {
  weft::run([] {
    weft::once o;
    weft::spawn({.name = "culprit"}, [&] { o.call([&] { o.call([] {}); }); }).join();
  });
}
SCENARIO(shared_mutex_unlock_of_unlocked) {
  weft::run([] {
    weft::shared_mutex m;
    m.lock_shared();
    weft::spawn({.name = "culprit"}, [&] { m.unlock(); }).join();
  });
}
SCENARIO(shared_mutex_unlock_shared_of_unlocked) {
  weft::run([] {
    weft::shared_mutex m;
    m.lock();
    weft::spawn({.name = "culprit"}, [&] { m.unlock_shared(); }).join();
  });
}
SCENARIO(semaphore_released_too_often) {
  weft::run([] {
    weft::semaphore s(2);
    s.acquire(2);
    weft::spawn({.name = "culprit"}, [&] { s.release(3); }).join();
  });
}
SCENARIO(semaphore_releases_less_than_nothing) {
  weft::semaphore s(2);
  s.acquire(2);
  s.release(-1);
}
SCENARIO(recursive_mutex_unlocked_by_a_stranger) {
  weft::run([] {
    weft::recursive_mutex m;
    m.lock();
    weft::spawn({.name = "culprit"}, [&] { m.unlock(); }).join();
  });
}
SCENARIO(recursive_mutex_unlocked_once_too_often) {
  weft::run([] {
    weft::recursive_mutex m;
    m.lock();
    m.lock();
    for (int i = 0; i < 3; ++i) m.unlock();
  });
}
SCENARIO(latch_below_zero) {
  weft::run([] {
    weft::latch l(2);
    weft::spawn({.name = "culprit"}, [&] { l.count_down(3); }).join();
  });
}
SCENARIO(latch_with_a_negative_count) { weft::latch l(-1); }
SCENARIO(barrier_with_one_too_many) {
  weft::run([] {
    weft::barrier b(2);
    (void)b.arrive();
    weft::spawn({.name = "culprit"}, [&] { (void)b.arrive(2); }).join();
  });
}
SCENARIO(barrier_with_a_negative_count) { weft::barrier b(-1); }

SCENARIO(deadlock_shared_mutex_write) {
  weft::run([] {
    weft::shared_mutex m;
    m.lock_shared();
    m.lock();
  });
}
SCENARIO(deadlock_shared_mutex_read) {
  weft::run([] {
    weft::shared_mutex m;
    m.lock();
    m.lock_shared();
  });
}
SCENARIO(deadlock_condition_variable) {
  weft::run([] {
    weft::mutex m;
    weft::condition_variable cv;
    std::unique_lock hold(m);
    cv.wait(hold);
  });
}
SCENARIO(deadlock_semaphore) {
  weft::run([] {
    weft::semaphore s(1);
    s.acquire();
    s.acquire();
  });
}
SCENARIO(deadlock_latch) {
  weft::run([] { weft::latch(1).wait(); });
}
SCENARIO(deadlock_barrier) {
  weft::run([] { weft::barrier(2).arrive_and_wait(); });
}
SCENARIO(deadlock_once) {
  weft::run([] {
    weft::once o;
    weft::once other;
    std::atomic<int> ninside{0};
    const auto call_both = [&](weft::once& first, weft::once& second) {
      first.call([&] {
        ++ninside;
        while (ninside < 2) weft::yield();
        second.call([] {});
      });
    };
    weft::go([&] { call_both(other, o); });
    call_both(o, other);
  });
}
// Each outlives a runtime whose goroutines wait at it, and serves those of the next as if they had never been.
SCENARIO(sync_objects_outlive_their_waiters) {
  static weft::shared_mutex rw;
  static weft::semaphore s(1);
  static weft::mutex m;
  static weft::condition_variable cv;
  static int nwaiting = 0;
  weft::run([] {
    rw.lock_shared();
    s.acquire();
    for (int i = 0; i < 3; ++i) weft::go([] { rw.lock(); });
    for (; rw.try_lock_shared(); weft::yield()) rw.unlock_shared();  // until one waits to write
    for (int i = 0; i < 3; ++i) {
      weft::go([] { rw.lock_shared(); });
      weft::go([] { s.acquire(); });
      weft::go([] {
        std::unique_lock hold(m);
        ++nwaiting;
        cv.wait(hold);
      });
    }
    for (int i = 0; i < 200; ++i) weft::yield();
    for (bool do_all_wait = false; !do_all_wait; weft::yield()) {  // else one might take m with it
      const std::lock_guard hold(m);
      do_all_wait = nwaiting == 3;
    }
  });
  weft::run([] {
    auto writes = weft::spawn([] {
      rw.lock();
      rw.unlock();
    });
    auto takes = weft::spawn([] {
      s.acquire();
      s.release();
    });
    bool is_woken = false;
    bool waits = false;
    auto waiter = weft::spawn([&] {
      std::unique_lock hold(m);
      waits = true;
      cv.wait(hold);
      is_woken = true;
    });
    for (bool seen = false; !seen; weft::yield()) {
      const std::lock_guard hold(m);
      seen = waits;
    }
    cv.notify_one();
    waiter.join();
    REQUIRE(is_woken);
    rw.unlock_shared();
    s.release();
    writes.join();
    takes.join();
    REQUIRE(rw.try_lock());
    REQUIRE(s.try_acquire());
  });
}
// A context knows of its waiters by what lies in their frames.
SCENARIO(a_context_outlives_its_waiters) {
  auto [ctx, cancel] = weft::with_cancel(weft::background());
  static weft::semaphore none(1);
  static std::atomic<int> ncame{0};
  weft::run([ctx = ctx] {
    none.acquire();
    for (int i = 0; i < 50; ++i) {
      weft::go([ctx] {
        ++ncame;
        if (!none.acquire(ctx)) say("woken from the grave");
      });
    }
    while (ncame < 50) weft::yield();
    weft::sleep_for(std::chrono::milliseconds(2));
  });
  weft::run([cancel = cancel] {
    weft::wait_group others;  // in the places of those who waited
    for (int i = 0; i < 200; ++i) others.go([] { weft::yield(); });
    cancel();
    others.wait();
    none.release();
    REQUIRE(none.try_acquire());
  });
  REQUIRE(ctx.err());
}
