// sync.cpp: synchronisation objects that are used wrongly, and what a dump says of those who wait at them.
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
  for (int i = 0; i < 3; ++i) {
    weft::run({.max_procs = 1}, [] {
      shared.lock();
      for (int k = 0; k < 5; ++k)
        weft::go([] {
          shared.lock();
          shared.unlock();
          wait_for_ever();
        });
      weft::yield();
      shared.unlock();  // wakes the first; main ends before it runs
    });
    weft::run([] {
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
