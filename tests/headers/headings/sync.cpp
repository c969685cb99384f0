// "## Synchronisation (<weft/sync.hpp>)"
#include <chrono>
#include <mutex>
#include <shared_mutex>

#include <weft/sync.hpp>

using namespace std::chrono_literals;

bool synchronisation() {
  weft::mutex m;
  weft::timed_mutex timed;
  weft::recursive_mutex recursive;
  weft::shared_mutex shared;
  weft::condition_variable changed;
  bool ok = timed.try_lock_for(1s);
  {
    const std::scoped_lock both(m, recursive);
    const std::shared_lock reading(shared);
  }
  {
    const std::lock_guard hold(timed);
    std::unique_lock<weft::mutex> lock(m);
    changed.wait(lock, [] { return true; });
    changed.notify_one();
  }
  weft::once once;
  once.call([] {});
  weft::wait_group wg;
  wg.add();
  wg.done();
  wg.go([] {});
  wg.wait();
  weft::semaphore some(3);
  some.acquire(2);
  ok = ok && some.try_acquire(1);
  some.release(2);
  weft::latch ready(1);
  ready.count_down();
  ready.wait();
  weft::barrier step(1, []() noexcept {});
  step.arrive_and_wait();
  weft::event happened;
  happened.set();
  happened.wait();
  return ok;
}
