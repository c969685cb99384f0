// wait_group_core.hpp: the wait group as a protocol, independent of what parks and wakes.
//
// One word holds the count (low half) and whether anybody waits (bit 32). Counting down is a single atomic operation unless it
// reaches zero with somebody waiting; the list of those is behind a lock of its own.
//
//    waiter (publish, stack already free)        the last done()
//    lock                                        count 1 -> 0, sees the bit
//    count != 0 ? set the bit, enter the list    lock
//    unlock                                      take the list, clear the bit
//                                                unlock; wake them
// The bit is set only under the lock and only while the count is not zero, so the done() that takes it to zero sees it. As long as
// the bit is set wait() does not return by the quick way, so the group lives until the list is taken; after the unlock only the
// waiters' own records are touched.  [wait_group.no_touch_after_wake]
//
// Edges
//   [wait_group.done]  add: RMW release  ->  wait: load acquire (what was done before done())
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "sync/wait_record.hpp"

namespace weft::sync {

template <class A, class Waiter>
class wait_group_core {
 public:
  using word = typename A::template atomic<std::uint64_t>;
  using lock = os::basic_lock<A, os::lock_rank::waiters>;
  using links = wait_links<Waiter>;
  using record = typename links::record;
  static constexpr std::uint64_t kWaiting = std::uint64_t{1} << 32;

  static std::int64_t count_of(std::uint64_t state) noexcept {
    return static_cast<std::int32_t>(state & 0xFFFF'FFFFu);
  }

  // Adds n. False: the count would fall below zero or overflow. wake(Waiter*) for each who waited for zero, first come first.
  template <class Wake>
  static bool add(word& state, lock& guard, void*& waiters, std::int32_t n, Wake&& wake) noexcept {
    std::uint64_t seen = state.load(std::memory_order_relaxed);  // checked by the CAS
    std::uint64_t next;
    do {
      const std::int64_t count = count_of(seen) + n;
      if (count < 0 || count > INT32_MAX) return false;
      next = (seen & kWaiting) | static_cast<std::uint32_t>(count);
      // acq_rel: the last one passes on what all the others did. relaxed: failed, nothing was done
    } while (!state.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
    if (next == kWaiting) release_all(state, guard, waiters, wake);
    return true;
  }

  // Enters `mine` among those who wait. False: the count is zero, nobody waits.
  static bool push(word& state, lock& guard, void*& waiters, record* mine) noexcept {
    os::lock_guard hold(guard);
    std::uint64_t seen = state.load(std::memory_order_acquire);  // [wait_group.done]
    do {
      if (seen == 0)
        return false;  // zero with somebody waiting: the last done() is about to take the list, with us
    } while (!state.compare_exchange_weak(
        seen, seen | kWaiting, std::memory_order_acq_rel,
        std::memory_order_acquire));  // release: to release_all(); failed: [wait_group.done]
    links::next(mine) = static_cast<record*>(waiters);
    waiters = mine;
    return true;
  }

 private:
  template <class Wake>
  static void release_all(word& state, lock& guard, void*& waiters, Wake&& wake) noexcept {
    record* list;
    {
      os::lock_guard hold(guard);
      list = static_cast<record*>(waiters);
      waiters = nullptr;
      state.fetch_and(~kWaiting, std::memory_order_acq_rel);  // [wait_group.done]
    }
    wake_in_order<Waiter>(list, wake);
  }
};

}  // namespace weft::sync
