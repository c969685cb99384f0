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
// A holder that nobody disturbs frees it with a plain store (os/restartable.hpp): a locked instruction less in every turn. It does not see one
// that changes the word at the same time, and wipes that change out. So whoever changes the word of a mutex that another holds makes sure
// (change_beside_holder):
//
//    unlock (release_alone, release_quietly)     lock (enter), withdraw, take_or_give_up: under the queue's lock
//    is it calm ? is nobody to be woken ?        change it, and make it wary
//    store it without kLocked                    it was calm ? restart_others: that store is done, or will not be
//                                                the change is gone ? begin again
// restart_others costs as much as hundreds of turns, and more where many CPUs run the process. Hence kCalm: it is calm only after NCalm turns that
// were freed by a CAS, each counted in the word, and nobody who changed it in between; so there is at most one disturbance that costs in as many
// turns, and none in the life of a mutex that has few. All this is under the queue's lock to its end, so two who change it do not take each
// other's change for their own. Who takes a free one need not care: nobody holds it, and the next holder sees what it did.  [mutex.calm]
//
// Invariants
//   M1  kWaiting says whether the queue is empty; both change under its lock only
//   M2  one that frees it with kWaiting set leaves it to somebody on its way
//   M3  it is handed over only to the front of the queue, and while nobody is on its way
//
// Edges
//   [mutex.pass]  release: CAS/fetch_and/plain store release  ->  take: CAS acquire (what the holder did); by way of the wake-up for a
//                 hand-over
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "sync/wait_queue.hpp"

namespace weft::sync {

// Two CPUs, 13 us for restart_others, every third one in vain: with 4,095 turns in between that is 5 ns a turn at worst.
template <class A, class Waiter, class Gone, std::uint32_t NCalm = 4095>
class mutex_core {
 public:
  using word = typename A::template atomic<std::uint32_t>;
  using lock = os::basic_lock<A, os::lock_rank::waiters>;

  static constexpr std::uint32_t kLocked = 1;
  static constexpr std::uint32_t kWaiting = 2;
  static constexpr std::uint32_t kWoken = 4;
  static constexpr std::uint32_t kTurn = 8;
  static constexpr std::uint32_t kCalm = NCalm * kTurn;  // counts up to it
  static constexpr int kEpochShift = 15;
  static constexpr std::uint32_t kTurns = (1u << kEpochShift) - kTurn;
  static_assert(NCalm > 0 && kCalm <= kTurns);
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
    const std::uint32_t turn = mine->is_woken ? kWokenMask : 0;
    if (!is_held_and_waited_for(turn) && !change_beside_holder(kWaiting | turn, kWaiting))
      return false;
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
    if (queue_.empty()) change_beside_holder(kWaiting, 0, true);
    return true;
  }

  // It was woken, and does not want it any more unless it is free. True: it is, and it has it. As all that take the queue's lock: inside the
  // bracket, or one that is stopped here keeps others inside it waiting, whose P it may need to go on.
  bool take_or_give_up(record* mine) noexcept {
    for (;;) {
      if (take(mine)) return true;
      if (!mine->is_woken) return false;
      const os::lock_guard hold(guard_);
      if (change_beside_holder(kWokenMask, 0)) {
        mine->is_woken = false;
        return false;
      }
    }
  }

  // Frees it if nobody else has been there for a while: what unlock() tries first. False also if the thread was stopped in its midst.
  bool release_alone() noexcept {
    return A::replace_alone(state_, kLocked | kCalm, kCalm);  // [mutex.pass] [mutex.calm]
  }

  enum class step : std::uint8_t { done, must_wake, not_locked };

  // Frees it unless somebody must be woken.
  step release_quietly() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    for (;;) {
      if ((seen & kLocked) == 0) return step::not_locked;
      if ((seen & kWaiting) != 0 && !is_one_on_its_way(seen)) return step::must_wake;
      if (is_calm(seen) &&
          A::replace_alone(state_, seen, seen & ~kLocked))  // [mutex.pass] [mutex.calm]
        return step::done;
      if (state_.compare_exchange_weak(seen, calmer(seen) & ~kLocked,
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

  static bool is_calm(std::uint32_t seen) noexcept { return (seen & kTurns) == kCalm; }

  static std::uint32_t calmer(std::uint32_t seen) noexcept {
    return is_calm(seen) ? seen : seen + kTurn;
  }

  // Then one more who waits need not change the word: whoever frees it looks, or one is on its way (M2). Under the queue's lock.
  bool is_held_and_waited_for(std::uint32_t turn) const noexcept {
    const std::uint32_t seen = state_.load(std::memory_order_relaxed);  // M1: kWaiting stays
    return turn == 0 && (seen & kLocked) != 0 && (seen & kWaiting) != 0;
  }

  // Makes `bits` of the word what they are in `value`, under the queue's lock, and not to be wiped out. False: it is free, and was left alone.
  bool change_beside_holder(std::uint32_t bits, std::uint32_t value,
                            bool also_if_free = false) noexcept {
    for (;;) {
      std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
      do {
        if ((seen & kLocked) == 0 && !also_if_free) return false;
      } while (!state_.compare_exchange_weak(
          seen, (seen & ~bits & ~kTurns) | value,
          std::memory_order_seq_cst,  // [restart.others]: restart_others() asks whether it is on
          std::memory_order_relaxed));  // failed: tried again
      if ((seen & kLocked) == 0 || !is_calm(seen)) return true;
      A::restart_others();
      if ((state_.load(std::memory_order_relaxed) & bits) == value)
        return true;  // behind a barrier
    }
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
