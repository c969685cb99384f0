// record.hpp: one who waits at a channel: its record, the queue it stands in, and the wait that several may end.
//
// A record lies in the frame of the one who waits and belongs to the channel's lock. Who waits at several channels, or not for ever,
// has a record at each channel and one shared_wait among them: whoever wants to end the wait claims that first, and only one can.
//
// Invariants, all under the lock of the channel
//   R1  is_queued says whether the record is in that channel's queue
//   R2  who is taken from a queue by take() is claimed, and woken by the one who took it, exactly once
//   R3  a record that lost its claim is not touched again once the lock is free: its owner may be gone
#pragma once

#include <cstdint>

#include "rt/timed_wait_word.hpp"

namespace weft::channels {

template <class A, class Party>
struct record;

// See rt/timed_wait_word.hpp. The record that won is written by the claimer and read by the waiter after it was woken, or after it
// has taken every lock.
template <class A, class Party>
struct shared_wait {
  rt::basic_timed_wait_word<A>& word;
  record<A, Party>* winner = nullptr;

  bool claim(record<A, Party>* r) noexcept {
    if (!word.end(rt::wait_mark::woken)) return false;
    winner = r;
    return true;
  }
};

template <class A, class Party>
struct record {
  Party* who = nullptr;
  void* elem = nullptr;                     // where the value lies, or goes
  shared_wait<A, Party>* shared = nullptr;  // null: only this channel ends the wait
  record* next = nullptr;
  record* prev = nullptr;
  bool is_queued = false;
  bool has_passed = false;  // a value was handed over; else the channel was closed
};

// First come, first served. is_gone(party): its runtime has ended, and it will never run again.
//
// Not the queue of sync/wait_queue.hpp: this one's first is an atomic, which is looked at without the lock, and who is taken from it must be
// claimed; that one's ends are bare words in the user's object, and it has a front to wait again at. What is left in common is the
// linking of a list, ten lines which would read no better behind two policies.
template <class A, class Party, class Gone>
class wait_queue {
 public:
  using record_type = record<A, Party>;

  // A hint without the lock.
  bool seems_empty() const noexcept {
    return first_.load(std::memory_order_acquire) == nullptr;  // [chan.hint]
  }

  void push(record_type* r) noexcept {
    r->next = nullptr;
    r->prev = last_;
    r->is_queued = true;
    if (last_ != nullptr) {
      last_->next = r;
    } else {
      first_.store(r, std::memory_order_release);  // [chan.hint]
    }
    last_ = r;
  }

  void remove(record_type* r) noexcept {
    if (!r->is_queued) return;
    r->is_queued = false;
    if (r->prev != nullptr) {
      r->prev->next = r->next;
    } else {
      first_.store(r->next, std::memory_order_release);  // [chan.hint]
    }
    if (r->next != nullptr) {
      r->next->prev = r->prev;
    } else {
      last_ = r->prev;
    }
  }

  // The first that is still to be had; null: nobody is.
  record_type* take() noexcept {
    while (record_type* const r = first()) {
      remove(r);
      if (Gone::is_gone(r->who)) continue;
      if (r->shared == nullptr || r->shared->claim(r)) return r;
    }
    return nullptr;
  }

  // Whether somebody stands here who may yet run.
  bool has_living() const noexcept {
    for (const record_type* r = first(); r != nullptr; r = r->next)
      if (!Gone::is_gone(r->who)) return true;
    return false;
  }

 private:
  record_type* first() const noexcept {
    return first_.load(std::memory_order_relaxed);  // under the lock
  }

  typename A::template atomic<record_type*> first_{nullptr};
  record_type* last_ = nullptr;
};

}  // namespace weft::channels
