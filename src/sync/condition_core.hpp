// condition_core.hpp: the condition variable as a protocol, independent of what parks and wakes.
//
// Whoever waits enters the queue while it holds the user's mutex, frees the mutex, and parks. A notify may come before it has parked: its
// wait has a word of its own (rt/timed_wait_word.hpp) which remembers that. So what is done under the mutex after it was freed finds the
// waiter in the queue: no notify is lost, and one that comes later cannot take it from it.  [condition.no_lost_notify]
//
// nwaiting counts those in the queue, so that a notify of nobody costs one load. It is written under the queue's lock.
//
// Edges: the user's mutex, for nwaiting as for what is waited for; [lock] and the wake-up for the rest.
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "sync/wait_queue.hpp"

namespace weft::sync {

template <class A, class Waiter, class Gone>
class condition_core {
 public:
  using word = typename A::template atomic<std::uint32_t>;
  using lock = os::basic_lock<A, os::lock_rank::waiters>;
  struct record : queue_entry<record, Waiter> {};
  using queue = wait_queue<record, Gone>;

  condition_core(word& nwaiting, lock& guard, void*& first, void*& last) noexcept
      : nwaiting_(nwaiting), guard_(guard), queue_(first, last) {}

  // Enters `mine` inside a Bracket, and then, outside, frees the user's mutex.
  template <class Bracket, class Unlock>
  void enter(record* mine, Unlock&& unlock) noexcept {
    {
      [[maybe_unused]] const Bracket inside;
      const os::lock_guard hold(guard_);
      queue_.push_back(mine);
      count(1);
    }
    unlock();  // [condition.no_lost_notify]
  }

  // Its time is over. False: it was notified, and will be woken.
  bool withdraw(record* mine) noexcept {
    const os::lock_guard hold(guard_);
    if (!mine->is_queued) return false;
    queue_.remove(mine);
    count(-1);
    return true;
  }

  template <class Wake>
  void notify(bool all, Wake&& wake) noexcept {
    wake_list<record> notified;
    {
      const os::lock_guard hold(guard_);
      do {
        record* const r = queue_.take();
        if (r == nullptr) break;
        notified.add(r);
        count(-1);
      } while (all);
      if (queue_.empty()) nwaiting_.store(0, std::memory_order_relaxed);  // some were dropped
    }
    notified.wake_all(wake);
  }

 private:
  void count(int n) noexcept {
    nwaiting_.store(nwaiting_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(n),
                    std::memory_order_relaxed);  // written under the lock; read: see above
  }

  word& nwaiting_;
  lock& guard_;
  queue queue_;
};

}  // namespace weft::sync
