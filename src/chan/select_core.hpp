// select_core.hpp: waiting at several channels as a protocol, independent of what parks and wakes.
//
//   0  Look at one, chosen at random. If it seems ready it is locked alone and tried: if it passes, that is the choice.
//   1  Else look at each channel in random order, in the same way.
//   2  Else lock all of them, in the order of their addresses, and look again: now it is one moment for all, so "none is ready" is true.
//   3  Still none: enter a record at each, all with one shared_wait, and park. The locks are given up when the stack is free.
//   4  Woken: take the records that are left out of their queues, one channel after the other.
//
// A random permutation and the first that is ready is a uniform choice among those that are. So is step 0 before it: of n cases, m of them
// ready, each of these is chosen with 1/n, or with 1/m of the (n - m)/n that are left: 1/m. Where all are ready there is no order to be made.
//
//    publish (of the waiter)         a peer, at channel k                 the time is over
//    mark parked                     lock k
//    unlock all, the first one last  take my record; claim: mark woken    mark timed_out
//                                    (parked, or the lock were not free)
//                                    unlock k; won? wake                  won? wake
// Of those who claim, one finds `parked` alone and wins. The waiter leaves only after it has had the lock of every channel but the
// winner's, so the last unlock of publish, and the last look of a peer at one of its records, are over by then.  [select.leave]
//
// Edges: those of the locks [lock], and [timed_wait.mark] for one whose time is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "base/rng.hpp"
#include "chan/chan_core.hpp"

namespace weft::channels {

// Slots: has core(slot), record(slot) -> void*, is_set(slot), left(slot), and catch_up(slot) for channels that are timed; a slot has elem,
// is_send, poll_order, lock_order.
template <class Slots, class Slot>
class selection {
 public:
  using core = typename Slots::core_type;
  using record_type = typename core::record_type;
  using lock_guard = os::lock_guard<typename core::lock_type>;

  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  // Slots without a channel take no part. The i-th slot also says which one is looked at i-th, and which one is locked i-th.
  selection(Slot* slots, std::size_t n, base::rng& random) noexcept : slots_(slots) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!Slots::is_set(slots[i])) continue;
      const std::size_t j = random.below(static_cast<std::uint32_t>(n_ + 1));
      slots[n_].poll_order = slots[j].poll_order;
      slots[j].poll_order = static_cast<std::uint32_t>(i);
      slots[n_].lock_order = static_cast<std::uint32_t>(i);
      ++n_;
    }
  }

  std::size_t size() const noexcept { return n_; }
  Slot& polled(std::size_t i) const noexcept { return slots_[slots_[i].poll_order]; }

  // The slot that was chosen, or kNobody.
  struct choice {
    std::size_t index = kNobody;
    bool is_closed = false;
    typename core::party_type* wake = nullptr;  // afterwards
    explicit operator bool() const noexcept { return index != kNobody; }
  };

  // Step 0. n > 0.
  [[gnu::always_inline]] static choice try_one(Slot* slots, std::size_t n,
                                               base::rng& random) noexcept {
    const std::size_t i = random.below(static_cast<std::uint32_t>(n));
    Slot& s = slots[i];
    if (!Slots::is_set(s) || !seems_ready(s)) return {};
    const lock_guard hold(Slots::core(s).lock());
    return take(s, i);
  }

  // Steps 1 and 2. If nothing is chosen the locks are held.
  choice choose() noexcept {
    const choice c = try_each();
    return c ? c : try_together();
  }

  // Step 1.
  choice try_each() noexcept {
    for (std::size_t i = 0; i < n_; ++i) {
      Slot& s = polled(i);
      if (!seems_ready(s)) continue;
      const lock_guard hold(Slots::core(s).lock());
      if (const choice c = take(s, index_of(s))) return c;
    }
    return {};
  }

  // Step 2. If nothing is chosen the locks are held.
  choice try_together() noexcept {
    lock_all();
    for (std::size_t i = 0; i < n_; ++i) {
      Slot& s = polled(i);
      if (const choice c = take(s, index_of(s))) {
        unlock_all();
        return c;
      }
    }
    return {};
  }

  // Step 3, under the locks.
  template <class Party, class Shared>
  void enter_all(Party* who, Shared* shared) noexcept {
    for (std::size_t i = 0; i < n_; ++i) {
      Slot& s = polled(i);
      queue_of(s).push(::new (Slots::record(s))
                           record_type{.who = who, .elem = s.elem, .shared = shared});
    }
  }

  // The last thing it does is to free the first lock: until then the waiter, who needs it, keeps the slots alive.
  void unlock_all() noexcept {
    Slot* const slots = slots_;
    for (std::size_t i = n_; i-- > 0;) {
      core& c = Slots::core(slots[slots[i].lock_order]);
      if (i == 0 || &c != &Slots::core(slots[slots[i - 1].lock_order])) c.lock().unlock();
    }
  }

  // Step 4. Gives the slot whose record won: how it ended is in there.
  choice withdraw_all(const record_type* winner) noexcept {
    choice won;
    for (std::size_t i = 0; i < n_; ++i) {
      Slot& s = polled(i);
      auto* const r = std::launder(static_cast<record_type*>(Slots::record(s)));
      if (r == winner) {
        won = {index_of(s), !r->has_passed, nullptr};
        continue;
      }
      const lock_guard hold(Slots::core(s).lock());
      queue_of(s).remove(r);
      Slots::left(s);
    }
    return won;
  }

 private:
  // Under no lock. A timer that is due is as ready as a value that is there, so the choice is even with it too.
  static bool seems_ready(const Slot& s) noexcept {
    const core& c = Slots::core(s);
    if (s.is_send) return !c.seems_full();
    if (!c.has_nothing()) return true;
    if (!c.is_timed()) [[likely]]
      return false;
    Slots::catch_up(s);
    return !c.has_nothing();
  }

  static auto& queue_of(Slot& s) noexcept {
    return s.is_send ? Slots::core(s).senders() : Slots::core(s).receivers();
  }

  std::size_t index_of(const Slot& s) const noexcept {
    return static_cast<std::size_t>(&s - slots_);
  }

  static choice take(Slot& s, std::size_t index) noexcept {
    choice c;
    const step result =
        s.is_send ? Slots::core(s).send(s.elem, c.wake) : Slots::core(s).recv(s.elem, c.wake);
    if (result == step::must_wait) return {};
    c.index = index;
    c.is_closed = result == step::closed;
    return c;
  }

  void lock_all() noexcept {
    sort_by_address();
    for (std::size_t i = 0; i < n_; ++i)
      if (i == 0 || address(i) != address(i - 1)) Slots::core(locked(i)).lock().lock();
  }

  Slot& locked(std::size_t i) const noexcept { return slots_[slots_[i].lock_order]; }
  std::uintptr_t address(std::size_t i) const noexcept {
    return reinterpret_cast<std::uintptr_t>(&Slots::core(locked(i)));
  }

  // A heap sort: in place, and for ten thousand cases as well as for two.
  void sort_by_address() noexcept {
    for (std::size_t i = n_ / 2; i-- > 0;) sift_down(i, n_);
    for (std::size_t end = n_; end > 1;) {
      --end;
      std::swap(slots_[0].lock_order, slots_[end].lock_order);
      sift_down(0, end);
    }
  }
  void sift_down(std::size_t i, std::size_t end) noexcept {
    for (;;) {
      std::size_t child = 2 * i + 1;
      if (child >= end) return;
      if (child + 1 < end && address(child) < address(child + 1)) ++child;
      if (address(i) >= address(child)) return;
      std::swap(slots_[i].lock_order, slots_[child].lock_order);
      i = child;
    }
  }

  Slot* const slots_;
  std::size_t n_ = 0;
};

}  // namespace weft::channels
