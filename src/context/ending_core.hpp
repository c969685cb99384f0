// ending_core.hpp: what is below an ending, and how an end goes down: the protocol, independent of contexts and of the mutex.
//
// Who stands below is a list under the lock of the one above. Locks are taken downwards, the parent's before the child's, and an end holds
// the locks of all it is inside of. So when any end() of an ending returns, everything below it has ended, whoever did it.
//
//    an end comes from above                       the last share of a child goes
//    lock parent                                   shares 1 -> 0
//    take child out of the list                    leave():
//    lock child                                      lock parent         waits: so the memory is there as long as the parent looks
//    try_retain() finds 0: leave it alone
//    unlock child, unlock parent                     not in the list any more
//                                                    unlock parent
//                                                  free
//
//    a child is made (join)                        its parent ends
//    lock parent                                   lock parent
//    has it ended ? end as it did : enter          it has ended; take out each one in the list
// The lock makes one of the two come first: the child sees the end, or is found in the list.
//
// What the derived class gives, as `Self`; all but the first under the lock, or when it has ended:
//   has_ended()       anybody, any time
//   close()           from now on it has; why is written before.  [context.end]
//   try_retain()      a share, if there is one left
//   above()           the one that it ends with; null: none
//   announce()        without any lock: what follows from the end
// An Observer, somebody who is told, has `link` and `next` for the list, hold() (under the lock: true, it lives until finish() is called) and finish(),
// when all locks are free; Self::below(o) is the ending that it is, or null.
//
// Edges
//   [context.end]  end: reason_, then close(): release  ->  has_ended: acquire, then why()
#pragma once

#include <mutex>

namespace weft::contexts {

// Those who were told of an end, until they are called.
template <class Observer>
class basic_held_list {
 public:
  void push(Observer* o) noexcept {
    o->next = nullptr;
    *end_ = o;
    end_ = &o->next;
  }
  void finish_all() noexcept {
    while (Observer* const o = first_) {
      first_ = o->next;  // before it may be gone
      o->finish();
    }
  }

 private:
  Observer* first_ = nullptr;
  Observer** end_ = &first_;
};

template <class Self, class Observer, class Lock, class Reason>
class ending_core {
 public:
  // Ends it and all below it, unless it has ended. All have when it returns.
  void end(const Reason& why) noexcept {
    basic_held_list<Observer> held;
    lock_.lock();  // also if it has ended: somebody may be on the way down
    if (self().has_ended()) return lock_.unlock();
    close_locked(why);
    for (Self* at = &self(); at != nullptr;) {
      if (Observer* const o = of(at).take_observer_locked()) {
        Self* const below = Self::below(o);
        if (below == nullptr ? o->hold() : of(below).begin_end(why)) {
          held.push(o);
          if (below != nullptr) at = below;
        }
      } else {
        Self* const up = at == &self() ? nullptr : at->above();
        of(at).lock_.unlock();
        at = up;
      }
    }
    self().announce();
    held.finish_all();
  }

  // From now on it ends with the one above; it has if that has. Its maker, once, when it is complete.
  void join() noexcept {
    Self* const up = self().above();
    if (up != nullptr && !self().has_ended() && !up->enter(&self())) end(of(up).reason_);
  }

  // False: it has ended, and nobody was entered.
  bool enter(Observer* o) noexcept {
    const std::lock_guard hold(lock_);
    if (self().has_ended()) return false;
    o->link = &first_;
    o->next = first_;
    if (first_ != nullptr) first_->link = &o->next;
    first_ = o;
    return true;
  }

  // When it returns, o is in no list, and hold() is not running.
  void leave(Observer* o) noexcept {
    const std::lock_guard hold(lock_);
    if (o->link == nullptr) return;
    *o->link = o->next;
    if (o->next != nullptr) o->next->link = o->link;
    o->link = nullptr;
  }

  // When it has ended.
  const Reason& why() const noexcept { return reason_; }

 protected:
  Lock lock_;

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  static ending_core& of(Self* s) noexcept { return *s; }

  // By its ancestor's end, which holds the lock above. True: it ends with it; it is locked, and there is a share more.
  bool begin_end(const Reason& why) noexcept {
    lock_.lock();
    if (self().has_ended() || !self().try_retain()) {
      lock_.unlock();
      return false;
    }
    close_locked(why);
    return true;
  }

  void close_locked(const Reason& why) noexcept {
    reason_ = why;
    self().close();  // [context.end]
  }

  Observer* take_observer_locked() noexcept {
    Observer* const o = first_;
    if (o == nullptr) return nullptr;
    first_ = o->next;
    if (first_ != nullptr) first_->link = &first_;
    o->link = nullptr;
    return o;
  }

  Observer* first_ = nullptr;  // under the lock
  Reason reason_;              // written under the lock, before close()
};

}  // namespace weft::contexts
