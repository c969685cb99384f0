// mutex_core.hpp: the mutex as a protocol, independent of what parks and wakes.
//
// Normally a free mutex is for whoever comes first, woken or not: the one that runs already takes it without a switch, and on a machine
// where waking somebody elsewhere takes 20 us nothing else is fast. Who is woken and finds it taken waits again, at the front; and once it
// has waited for a millisecond in all it is starving, and the next unlock hands the mutex to it without ever freeing it.
//
// One word: kLocked, kWaiting (the queue is not empty), kWoken (one that was woken is on its way, so nobody else need be). The queue has
// a lock of its own.
//
//    lock, finds it taken (enter)                unlock, finds somebody waiting (release)
//    lock the queue                              lock the queue
//    still kLocked ? set kWaiting, enter         take the first; set kWoken, or hand over
//    unlock the queue                            unlock the queue
//                                                clear kLocked; wake it
// kWaiting is set only while kLocked is, in one step, so the holder sees it when it wants to leave: no wake-up is lost. Who gives up its
// turn (kWoken) does so in one step with seeing kLocked, for the same reason.  [mutex.no_lost_wake]
//
// The holder does all that is to be done with the queue while it still holds the mutex; the step that frees it is its last with it.
// Whoever locks it then may destroy it.  [mutex.no_touch_after_unlock]
//
// kWoken carries the number of its runtime: the one that was woken may have been left behind with it, and is on its way no more.
//
// Invariants
//   M1  kWaiting says whether the queue is empty; both change under its lock only
//   M2  who stands in the queue as starving is at its front, and kWoken is not set
//
// Edges
//   [mutex.pass]  release: CAS/fetch_and release  ->  take: CAS acquire (what the holder did); by way of the wake-up for a hand-over
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "sync/wait_queue.hpp"

namespace weft::sync {

template <class A, class Waiter, class Gone>
class mutex_core {
 public:
  using word = typename A::template atomic<std::uint32_t>;
  using lock = os::basic_lock<A, os::lock_rank::waiters>;

  static constexpr std::uint32_t kLocked = 1;
  static constexpr std::uint32_t kWaiting = 2;
  static constexpr std::uint32_t kWoken = 4;
  static constexpr int kEpochShift = 8;
  static constexpr std::uint32_t kWokenMask = kWoken | (~std::uint32_t{0} << kEpochShift);

  struct record : queue_entry<record, Waiter> {
    bool has_waited = false;   // it goes back to the front
    bool is_starving = false;  // the next unlock is for it
    bool is_woken = false;     // kWoken is its own
    bool has_lock = false;     // it was handed over
  };
  using queue = wait_queue<record, Gone>;

  mutex_core(word& state, lock& guard, void*& first, void*& last) noexcept
      : state_(state), guard_(guard), queue_(first, last) {}

  bool is_locked() const noexcept {
    return (state_.load(std::memory_order_relaxed) & kLocked) != 0;  // a hint
  }

  // Takes it if it is free, whoever waits.
  bool take(record* mine) noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    while ((seen & kLocked) == 0) {
      if (state_.compare_exchange_weak(seen, without_turn(seen, mine) | kLocked,
                                       std::memory_order_acquire,     // [mutex.pass]
                                       std::memory_order_relaxed)) {  // failed: tried again
        mine->is_woken = false;
        return true;
      }
    }
    return false;
  }

  // Enters `mine` among those who wait. False: the mutex was free, and nobody waits.
  bool enter(record* mine) noexcept {
    const os::lock_guard hold(guard_);
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    do {
      if ((seen & kLocked) == 0) return false;
    } while (!state_.compare_exchange_weak(seen, without_turn(seen, mine) | kWaiting,
                                           std::memory_order_relaxed,  // under the lock
                                           std::memory_order_relaxed));  // failed: tried again
    mine->is_woken = false;
    if (mine->has_waited) {
      queue_.push_front(mine);
    } else {
      queue_.push_back(mine);
    }
    mine->has_waited = true;
    return true;
  }

  // Its time is over. False: it was taken out already, and will be woken.
  bool withdraw(record* mine) noexcept {
    const os::lock_guard hold(guard_);
    if (!mine->is_queued) return false;
    queue_.remove(mine);
    if (queue_.empty()) clear(kWaiting);
    return true;
  }

  // It was woken, and does not want it any more unless it is free. True: it is, and it has it.
  bool take_or_give_up(record* mine) noexcept {
    for (;;) {
      if (take(mine)) return true;
      if (!mine->is_woken) return false;
      std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
      if ((seen & kLocked) != 0 &&
          state_.compare_exchange_strong(seen, without_turn(seen, mine),
                                         std::memory_order_relaxed,  // nothing is handed over
                                         std::memory_order_relaxed)) {
        mine->is_woken = false;
        return false;
      }
    }
  }

  enum class step : std::uint8_t { done, must_wake, not_locked };

  // Frees it unless somebody must be woken.
  step release_quietly() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    for (;;) {
      if ((seen & kLocked) == 0) return step::not_locked;
      if ((seen & kWaiting) != 0 && !is_one_on_its_way(seen)) return step::must_wake;
      if (state_.compare_exchange_weak(seen, seen & ~kLocked,
                                       std::memory_order_release,     // [mutex.pass]
                                       std::memory_order_relaxed)) {  // failed: tried again
        return step::done;
      }
    }
  }

  // After must_wake: takes the next one out and frees the mutex, or hands it over; then wake(Waiter*). False: nobody was there, and it is
  // still locked.
  template <class Wake>
  bool release_to_next(Wake&& wake) noexcept {
    record* next;
    bool is_handed_over = false;
    {
      const os::lock_guard hold(guard_);
      next = queue_.take();
      if (queue_.empty()) clear(kWaiting);
      if (next == nullptr) return false;
      is_handed_over = next->is_starving;
      next->has_lock = is_handed_over;
      next->is_woken = !is_handed_over;
      if (!is_handed_over) set_woken();
    }
    Waiter* const who = next->who;
    if (!is_handed_over)
      state_.fetch_and(~kLocked,
                       std::memory_order_release);  // [mutex.pass] [mutex.no_touch_after_unlock]
    wake(who);
    return true;
  }

 private:
  static std::uint32_t epoch_bits() noexcept { return Gone::epoch() << kEpochShift; }

  static bool is_one_on_its_way(std::uint32_t seen) noexcept {
    return (seen & kWoken) != 0 && (seen & ~std::uint32_t{0} << kEpochShift) == epoch_bits();
  }

  static std::uint32_t without_turn(std::uint32_t seen, const record* mine) noexcept {
    return mine->is_woken ? seen & ~kWokenMask : seen;
  }

  void clear(std::uint32_t bits) noexcept {
    state_.fetch_and(~bits, std::memory_order_relaxed);  // under the lock
  }

  // One who was woken before, by a runtime that has ended, has left its mark: two steps, since only this one looks at it.
  void set_woken() noexcept {
    clear(kWokenMask);
    state_.fetch_or(kWoken | epoch_bits(), std::memory_order_relaxed);  // freed with release below
  }

  word& state_;
  lock& guard_;
  queue queue_;
};

}  // namespace weft::sync
