// wait_queue.hpp: those who wait at a lock, a condition or a semaphore, first come first. Under a lock of its owner's.
//
// Each stands in it with a record in its own frame. Whoever takes a record out wakes its owner, and does not touch the record once it
// has: the frame may be gone. The ends of the queue lie in the user's object (weft/detail/waiters.hpp), which is why they are void*.
//
// Invariants, under the lock
//   Q1  is_queued says whether the record is in the queue
//   Q2  whoever comes out of take() may yet run: goroutines of a runtime that has ended are dropped
#pragma once

namespace weft::sync {

// Record derives from queue_entry<Record, Waiter>.
template <class Record, class Waiter>
struct queue_entry {
  Waiter* who = nullptr;
  Record* next = nullptr;
  Record* prev = nullptr;
  bool is_queued = false;
};

// Gone::is_gone(who): it will never run again.
template <class Record, class Gone>
class wait_queue {
 public:
  wait_queue(void*& first, void*& last) noexcept : first_(first), last_(last) {}

  bool empty() const noexcept { return first_ == nullptr; }

  void push_back(Record* r) noexcept {
    r->next = nullptr;
    r->prev = last();
    r->is_queued = true;
    if (r->prev != nullptr) {
      r->prev->next = r;
    } else {
      first_ = r;
    }
    last_ = r;
  }

  void push_front(Record* r) noexcept {
    r->next = first();
    r->prev = nullptr;
    r->is_queued = true;
    if (r->next != nullptr) r->next->prev = r;
    if (last_ == nullptr) last_ = r;
    first_ = r;
  }

  void remove(Record* r) noexcept {
    r->is_queued = false;
    if (r->prev != nullptr) {
      r->prev->next = r->next;
    } else {
      first_ = r->next;
    }
    if (r->next != nullptr) {
      r->next->prev = r->prev;
    } else {
      last_ = r->prev;
    }
    r->next = nullptr;
  }

  // The first that may yet run, left where it is; null: nobody waits.
  Record* front() noexcept {
    while (Record* const r = first()) {
      if (!Gone::is_gone(r->who)) return r;
      remove(r);
    }
    return nullptr;
  }

  Record* take() noexcept {
    Record* const r = front();
    if (r != nullptr) remove(r);
    return r;
  }

 private:
  Record* first() const noexcept { return static_cast<Record*>(first_); }
  Record* last() const noexcept { return static_cast<Record*>(last_); }

  void*& first_;
  void*& last_;
};

// Records that were taken out and are to be woken when the lock is free, in order.
template <class Record>
class wake_list {
 public:
  void add(Record* r) noexcept {
    r->next = nullptr;
    (last_ != nullptr ? last_->next : first_) = r;
    last_ = r;
  }

  bool empty() const noexcept { return first_ == nullptr; }

  template <class Wake>
  void wake_all(Wake&& wake) noexcept {
    while (Record* const r = first_) {
      first_ = r->next;  // before the owner of *r runs on
      wake(r->who);
    }
    last_ = nullptr;
  }

 private:
  Record* first_ = nullptr;
  Record* last_ = nullptr;
};

}  // namespace weft::sync
