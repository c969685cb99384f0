// survivors_core.hpp: who waits for something that only a runtime can do, and is told when that runtime has ended.
//
//    plain thread                                    the end of the runtime
//    lock; epoch is another ? do not wait            epoch moves on
//    publish; enter the list; unlock; sleep          lock; take one out, withdraw it; unlock; wake it; and the next
// The lock makes one of the two come first: the thread sees the new epoch, or is found in the list.
//
//    plain thread, woken by what it waited for       the end of the runtime
//    lock; in the list ? leave it; unlock            lock; take it out; withdraw it: somebody else wakes it; unlock
//    leaves the frame
// Whichever comes first, the record is not touched after the thread has had the lock.
//
// Invariants, under the list's lock
//   V1  who is in the list waits for a goroutine of the present runtime, or is just being woken
//   V2  a record is not touched once the lock is free: its thread takes the lock before it leaves the frame
//
// Edges
//   [epoch.end]  abandon_goroutines: epoch seq_cst  ->  has_moved_on: acquire (all that goroutines of that runtime ever did inside weft)
#pragma once

#include <atomic>
#include <cstdint>

#include "base/list.hpp"
#include "os/lock.hpp"

namespace weft::sched {

// `now` is an atomic: the present epoch.
template <class Epoch>
bool has_moved_on(const Epoch& now, std::uint32_t epoch) noexcept {
  return now.load(std::memory_order_acquire) != epoch;  // [epoch.end]
}

template <class A, class Who>
class basic_survivors {
 public:
  using epoch_type = typename A::template atomic<std::uint32_t>;

  // In the frame of the thread that waits.
  struct survivor {
    const std::uint32_t epoch;
    bool (*const publish)(Who* who, void* arg);  // false: there is no need to wait
    bool (*const withdraw)(void* arg);           // false: somebody is waking it already
    void* const arg;
    Who* who = nullptr;
    base::list_link<survivor> link{};
  };

  // False: it need not wait, or would wait for ever.
  bool enter(survivor* s, Who* who, const epoch_type& now) noexcept {
    const os::lock_guard hold(lock_);
    if (has_moved_on(now, s->epoch) || !s->publish(who, s->arg)) return false;
    s->who = who;
    all_.push_back(s);
    return true;
  }

  // It goes on, whether it has waited or not.
  void leave(survivor* s) noexcept {
    const os::lock_guard hold(lock_);  // V2
    if (all_.contains(s)) all_.remove(s);
  }

  // The epoch has moved on: wake(Who*) for each who waits and is not being woken.
  template <class Wake>
  void wake_all(Wake&& wake) noexcept {
    for (next_survivor next = take_one(); next.is_there; next = take_one())
      if (next.to_wake != nullptr) wake(next.to_wake);
  }

 private:
  struct next_survivor {
    bool is_there = false;
    Who* to_wake = nullptr;  // null: somebody does
  };
  next_survivor take_one() noexcept {
    const os::lock_guard hold(lock_);
    survivor* const first = all_.pop_front();
    if (first == nullptr) return {};
    return {true, first->withdraw(first->arg) ? first->who : nullptr};
  }

  os::basic_lock<A, os::lock_rank::waiters> lock_;
  base::linked_list<survivor, &survivor::link> all_;
};

}  // namespace weft::sched
