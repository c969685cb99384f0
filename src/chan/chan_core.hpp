// chan_core.hpp: the channel as a protocol under one lock, independent of what parks and wakes, and of what it carries.
//
// A channel carries elements of a fixed size and moves them as bytes, since it does so inside the bracket, where no code of the user's
// may run. What cannot be moved as bytes travels in a cell, and the element is its address (include/weft/detail/cell.hpp).
//
// Every operation is one step under the lock:
//
//    send    a receiver waits?  into its frame, and wake it      recv    the buffer has one?  take it; a sender waits?  its value
//            room?              into the buffer                                               goes into the buffer, and wake it
//            else               wait                                     a sender waits?      out of its frame, and wake it
//                                                                        else                 wait
//
// The step says whom to wake; that is done when the lock is free. Who must wait enters its record and keeps the lock until it has left
// its stack: nobody can find it before.
//
// Invariants, under the lock
//   C1  nobody waits to receive while there is an element, nobody to send while there is room (but who lost its claim, or is gone)
//   C2  the elements are those that were given back, then those in [recvx_, recvx_ + nring_) of the ring; count_ is all of them
//   C3  after close() nobody waits
//
// Edges
//   [chan.pass]  unlock after a step  ->  lock of the one that takes the element (what the sender did), or that uses the room
//                it left (what the receiver did); by way of ready() for one who waited
//   [chan.hint]  first_, count_, is_closed_: store release  ->  load acquire of one who looks without the lock
//   [chan.ref]   release: fetch_sub release  ->  the last one: acquire (whatever was done with the channel)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "chan/record.hpp"
#include "os/lock.hpp"

namespace weft::channels {

enum class step : std::uint8_t { done, closed, must_wait };

template <class A, class Party, class Gone>
class chan_core {
 public:
  using party_type = Party;
  using lock_type = os::basic_lock<A, os::lock_rank::channel>;
  using record_type = record<A, Party>;
  using queue_type = wait_queue<A, Party, Gone>;

  // buffer: capacity elements of that size.
  chan_core(std::size_t elem_size, std::size_t capacity, std::byte* buffer) noexcept
      : elem_size_(elem_size), capacity_(capacity), buffer_(buffer) {}
  chan_core(const chan_core&) = delete;
  chan_core& operator=(const chan_core&) = delete;

  lock_type& lock() noexcept { return lock_; }
  queue_type& senders() noexcept { return senders_; }
  queue_type& receivers() noexcept { return receivers_; }

  // The bubble in which it was made (sched/bubbles.hpp); 0: in none. Not the protocol's business: it lies here since there is room.
  std::uint8_t home() const noexcept { return home_; }
  void set_home(std::uint8_t bubble) noexcept { home_ = bubble; }

  // An alarm sends to it, which may be late (impl.hpp). It lies here, beside what every look reads, so that to ask costs others nothing.
  bool is_timed() const noexcept { return is_timed_; }
  void set_timed() noexcept { is_timed_ = true; }

  // --- steps, under the lock; `wake` is set to who must be woken afterwards ---

  step send(const void* elem, Party*& wake) noexcept {
    if (is_closed_.load(std::memory_order_relaxed)) return step::closed;  // under the lock
    if (record_type* const r = receivers_.take()) {
      wake = hand_over(r, r->elem, elem);
      return step::done;
    }
    if (count() >= capacity_) return step::must_wait;
    put(elem);
    return step::done;
  }

  // closed: closed and drained.
  step recv(void* elem, Party*& wake) noexcept {
    if (count() == 0) {
      if (record_type* const r = senders_.take()) {  // there is no buffer
        wake = hand_over(r, elem, r->elem);
        return step::done;
      }
      // under the lock
      return is_closed_.load(std::memory_order_relaxed) ? step::closed : step::must_wait;
    }
    take_first(elem);
    let_sender_in(wake);
    return step::done;
  }

  // The address of a cell that was sent, and is empty for good, leaves the buffer as if it had never been sent. False: somebody has it, or
  // will look at it.
  bool take_back(const void* cell, Party*& wake) noexcept {
    std::size_t i = 0;
    while (i < nring_ && std::memcmp(nth(i), &cell, sizeof cell) != 0) ++i;
    if (i == nring_) return false;
    for (; i + 1 < nring_; ++i) copy(nth(i), nth(i + 1));
    --nring_;
    set_count(count() - 1);
    let_sender_in(wake);
    return true;
  }

  // An element that was received and cannot be kept goes back to where it was: before all others. It begins with a pointer that is the
  // channel's while it is here.
  void give_back(void* cell, Party*& wake) noexcept {
    if (record_type* const r = receivers_.take()) {
      wake = hand_over(r, r->elem, &cell);
      return;
    }
    *static_cast<void**>(cell) = given_back_;
    given_back_ = cell;
    set_count(count() + 1);
  }

  // Those who waited, one after the other, until null. False from close(): it was closed before.
  bool close() noexcept {
    if (is_closed_.load(std::memory_order_relaxed)) return false;  // under the lock
    is_closed_.store(true, std::memory_order_release);             // [chan.hint]
    return true;
  }
  record_type* take_waiter() noexcept {
    if (record_type* const r = receivers_.take()) return r;
    return senders_.take();
  }

  // When nobody else knows of the channel any more: one element that is left in it. False: there is none.
  bool take_left(void* elem) noexcept {
    if (count() == 0) return false;
    take_first(elem);
    return true;
  }

  bool has_waiters() const noexcept { return senders_.has_living() || receivers_.has_living(); }

  // --- without waiting: must_wait if that would be needed ---

  // Without the lock if there is clearly nothing to do: whoever asks in a loop gets in nobody's way. Whether there is anything else than
  // "not now", only a step under the lock can tell. Inside: made for that step; has wake(Party*).
  template <class Inside>
  [[gnu::always_inline]] step try_send(const void* elem) noexcept {
    if (seems_full()) return step::must_wait;
    return at_once<Inside>([&](Party*& wake) { return send(elem, wake); });
  }
  template <class Inside>
  [[gnu::always_inline]] step try_recv(void* elem) noexcept {
    if (has_nothing()) return step::must_wait;
    return at_once<Inside>([&](Party*& wake) { return recv(elem, wake); });
  }

  // --- without the lock, a moment's truth each ---

  // Nobody could send, or receive, without waiting. A channel that is closed is never too full.
  bool seems_full() const noexcept {
    if (is_closed()) return false;
    return capacity_ == 0 ? receivers_.seems_empty() : length() >= capacity_;
  }
  bool seems_empty() const noexcept {
    return length() == 0 && (capacity_ != 0 || senders_.seems_empty());
  }
  // First empty, then not closed: it was both at the moment of the first look, since what is closed stays so.
  bool has_nothing() const noexcept { return seems_empty() && !is_closed(); }
  bool is_closed() const noexcept {
    return is_closed_.load(std::memory_order_acquire);  // [chan.hint]
  }
  std::size_t length() const noexcept {
    return count_.load(std::memory_order_acquire);  // [chan.hint]
  }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t elem_size() const noexcept { return elem_size_; }

  void copy(void* to, const void* from) const noexcept {
    if (elem_size_ == sizeof(std::uint64_t)) {
      std::memcpy(to, from, sizeof(std::uint64_t));
    } else if (elem_size_ != 0) {
      std::memcpy(to, from, elem_size_);
    }
  }

 private:
  template <class Inside, class Step>
  [[gnu::always_inline]] step at_once(Step&& take) noexcept {
    const Inside inside;
    Party* wake = nullptr;
    lock_.lock();
    const step s = take(wake);
    lock_.unlock();
    if (wake != nullptr) inside.wake(wake);
    return s;
  }

  Party* hand_over(record_type* r, void* to, const void* from) noexcept {
    copy(to, from);
    r->has_passed = true;
    return r->who;
  }

  std::size_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);  // under the lock
  }
  void set_count(std::size_t n) noexcept {
    count_.store(n, std::memory_order_release);  // [chan.hint]
  }

  std::byte* slot(std::size_t index) noexcept { return buffer_ + index * elem_size_; }

  // Of the ring, or the first one behind it.
  std::byte* nth(std::size_t n) noexcept {
    const std::size_t i = recvx_ + n;
    return slot(i < capacity_ ? i : i - capacity_);
  }

  // One element has left the buffer.
  void let_sender_in(Party*& wake) noexcept {
    if (count() >= capacity_) return;  // there are some that were given back
    if (record_type* const r = senders_.take()) {
      put(r->elem);
      r->has_passed = true;
      wake = r->who;
    }
  }

  // There is room.
  void put(const void* elem) noexcept {
    copy(nth(nring_), elem);
    ++nring_;
    set_count(count() + 1);
  }

  // There is one.
  void take_first(void* elem) noexcept {
    set_count(count() - 1);
    if (given_back_ != nullptr) [[unlikely]] {
      void* const cell = given_back_;
      given_back_ = *static_cast<void**>(cell);
      std::memcpy(elem, &cell, sizeof cell);
      return;
    }
    copy(elem, slot(recvx_));
    if (++recvx_ == capacity_) recvx_ = 0;
    --nring_;
  }

  lock_type lock_;
  typename A::template atomic<bool> is_closed_{false};
  std::uint8_t home_ = 0;
  bool is_timed_ = false;
  const std::size_t elem_size_;
  const std::size_t capacity_;
  typename A::template atomic<std::size_t> count_{0};  // of the ring, and of what was given back
  std::size_t recvx_ = 0;
  std::size_t nring_ = 0;
  std::byte* const buffer_;
  queue_type receivers_;
  queue_type senders_;
  void* given_back_ = nullptr;
};

}  // namespace weft::channels
