// semaphore_core.hpp: the weighted semaphore as a protocol, independent of what parks and wakes.
//
// One word: how much there is, and kWaiting (the queue is not empty). While that is set nobody takes anything; whoever brings something, or
// leaves the queue, gives to those at its front as long as there is enough, under the queue's lock.
//
//    acquire (enter)                          release
//    lock the queue                           kWaiting not set ? add, in one step : done
//    enough, and nobody waits ? take it       lock the queue
//    else set kWaiting, enter                 give to the first ones; what is left stays here if somebody still waits
//    unlock the queue                         unlock the queue; else put back what is left, in one step; wake them
// What is left goes back as the last step when nobody waits any more, since whoever takes it may destroy the semaphore; and those it was
// given to are woken after that.  [semaphore.no_touch_after_release]
//
// Invariants
//   P1  kWaiting says whether the queue is empty; both change under its lock only
//   P2  while kWaiting is set, the word changes under the lock only
//
// Edges
//   [semaphore.pass]  release: CAS/store release  ->  take: CAS acquire; by way of the wake-up for those who waited
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "sync/wait_queue.hpp"

namespace weft::sync {

template <class A, class Waiter, class Gone>
class semaphore_core {
 public:
  using word = typename A::template atomic<std::int64_t>;
  using lock = os::basic_lock<A, os::lock_rank::waiters>;
  struct record : queue_entry<record, Waiter> {
    std::int64_t wants = 0;
  };
  using queue = wait_queue<record, Gone>;

  static constexpr std::int64_t kWaiting = 1;
  static constexpr std::int64_t kOne = 2;

  semaphore_core(word& state, lock& guard, void*& first, void*& last) noexcept
      : state_(state), guard_(guard), queue_(first, last) {}

  // False: it was there, and was taken. True: entered, and whoever wakes it has given it that.
  bool enter(record* mine) noexcept {
    const os::lock_guard hold(guard_);
    std::int64_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    for (;;) {
      if ((seen & kWaiting) == 0 && seen / kOne >= mine->wants) {
        if (state_.compare_exchange_weak(seen, seen - mine->wants * kOne,
                                         std::memory_order_acquire,   // [semaphore.pass]
                                         std::memory_order_relaxed))  // failed: tried again
          return false;
      } else if (state_.compare_exchange_weak(seen, seen | kWaiting,
                                              std::memory_order_relaxed,     // under the lock
                                              std::memory_order_relaxed)) {  // failed: tried again
        break;
      }
    }
    queue_.push_back(mine);
    return true;
  }

  // Its time is over. False: it has been given what it wants, and will be woken. Those behind it may be lucky: wake(Waiter*).
  template <class Wake>
  bool withdraw(record* mine, Wake&& wake) noexcept {
    wake_list<record> lucky;
    {
      const os::lock_guard hold(guard_);
      if (!mine->is_queued) return false;
      queue_.remove(mine);
      const std::int64_t left =
          give(state_.load(std::memory_order_acquire) / kOne, lucky);  // [semaphore.pass]
      state_.store(left * kOne | (queue_.empty() ? 0 : kWaiting),
                   std::memory_order_release);  // [semaphore.pass]
    }
    lucky.wake_all(wake);
    return true;
  }

  // False: there would be more than the capacity.
  template <class Wake>
  bool release(std::int64_t n, std::int64_t capacity, Wake&& wake) noexcept {
    wake_list<record> lucky;
    bool is_over = false;
    for (;;) {
      std::int64_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
      if (n > capacity - seen / kOne) return false;
      if ((seen & kWaiting) == 0) {
        if (n != 0 && !state_.compare_exchange_weak(
                          seen, seen + n * kOne, std::memory_order_release,  // [semaphore.pass]
                          std::memory_order_relaxed))                        // failed: tried again
          continue;
        is_over = true;
      } else {
        is_over = !give_some(n, capacity, lucky);
      }
      if (is_over) break;
    }
    lucky.wake_all(wake);
    return true;
  }

 private:
  // To those at the front. Gives what is left.
  std::int64_t give(std::int64_t available, wake_list<record>& lucky) noexcept {
    for (record* r; (r = queue_.front()) != nullptr && r->wants <= available;) {
      queue_.remove(r);
      available -= r->wants;
      lucky.add(r);
    }
    return available;
  }

  // n to those who wait. True: some is left in n, and is to be put back.
  bool give_some(std::int64_t& n, std::int64_t capacity, wake_list<record>& lucky) noexcept {
    const os::lock_guard hold(guard_);
    const std::int64_t seen = state_.load(std::memory_order_acquire);  // [semaphore.pass]
    if ((seen & kWaiting) == 0) return true;                           // they have left meanwhile
    if (n > capacity - seen / kOne) return true;                       // refused in the next round
    const std::int64_t left = give(seen / kOne + n, lucky);
    if (!queue_.empty()) {
      state_.store(left * kOne | kWaiting, std::memory_order_release);  // [semaphore.pass]
      return false;
    }
    state_.store(0, std::memory_order_release);  // [semaphore.pass]
    n = left;
    return n != 0;
  }

  word& state_;
  lock& guard_;
  queue queue_;
};

}  // namespace weft::sync
