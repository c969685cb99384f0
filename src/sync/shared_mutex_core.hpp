// shared_mutex_core.hpp: the shared mutex as a protocol, independent of what parks and wakes.
//
// One word: kWriter, kWaiting (one of the queues is not empty), and the number of readers. While kWaiting is set nobody gets in but by
// being let in: the last one out decides under the queues' lock who is next, and hands the mutex over.
//
//    the last reader leaves:  the first writer; if there is none, all readers
//    the writer leaves:       all readers that wait; if there is none, the first writer
// So readers that came while somebody wrote read before the next one writes, and new ones wait while somebody waits to write.
//
// Invariants
//   S1  kWaiting says whether somebody is queued; it changes under the lock only, and is set only while somebody has the mutex
//   S2  while it is set, nobody changes the word but those who have the mutex, and who holds the lock
//
// Whoever leaves changes the word for the last time in the step that lets others in, or frees it. If it let others in, they have not been
// woken yet, so the mutex lives until the lock is free; after that only their records are touched.  [shared_mutex.no_touch_after_unlock]
//
// Edges
//   [shared_mutex.pass]  release: RMW or store release  ->  take: CAS acquire. The readers' releases are one sequence of RMWs, which the
//                   last one acquires and passes on.
#pragma once

#include <cstdint>

#include "os/lock.hpp"
#include "sync/wait_queue.hpp"

namespace weft::sync {

template <class A, class Waiter, class Gone>
class shared_mutex_core {
 public:
  using word = typename A::template atomic<std::uint32_t>;
  using lock = os::basic_lock<A, os::lock_rank::waiters>;
  struct record : queue_entry<record, Waiter> {};
  using queue = wait_queue<record, Gone>;

  static constexpr std::uint32_t kWriter = 1;
  static constexpr std::uint32_t kWaiting = 2;
  static constexpr std::uint32_t kReader = 4;

  struct ends {
    void*& first;
    void*& last;
  };
  shared_mutex_core(word& state, lock& guard, ends writers, ends readers) noexcept
      : state_(state),
        guard_(guard),
        writers_(writers.first, writers.last),
        readers_(readers.first, readers.last) {}

  // Each: false if it was to be had at once, and is. True: entered, and whoever wakes it has let it in.
  bool enter_writer(record* mine) noexcept {
    const os::lock_guard hold(guard_);
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    do {
      if (seen == 0 && take(seen, kWriter)) return false;
    } while (seen == 0 || !mark_waiting(seen));
    writers_.push_back(mine);
    return true;
  }

  bool enter_reader(record* mine) noexcept {
    const os::lock_guard hold(guard_);
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    for (;;) {
      if ((seen & (kWriter | kWaiting)) == 0) {
        if (take(seen, seen + kReader)) return false;
      } else if (mark_waiting(seen)) {
        break;
      }
    }
    readers_.push_back(mine);
    return true;
  }

  // Each: false if it was not locked in that way. wake(Waiter*) for those who were let in.
  template <class Wake>
  bool release_writer(Wake&& wake) noexcept {
    for (;;) {
      std::uint32_t seen = kWriter;
      if (state_.compare_exchange_strong(seen, 0, std::memory_order_release,  // [shared_mutex.pass]
                                         std::memory_order_relaxed))          // failed: see below
        return true;
      if ((seen & kWriter) == 0) return false;
      if ((seen & kWaiting) != 0 && let_in_next(true, wake)) return true;
    }
  }

  template <class Wake>
  bool release_reader(Wake&& wake) noexcept {
    std::uint32_t seen = state_.load(std::memory_order_relaxed);  // checked by the CAS
    for (;;) {
      if (seen < kReader) return false;
      const bool is_last = seen / kReader == 1;
      if (is_last && (seen & kWaiting) != 0) {
        if (let_in_next(false, wake)) return true;
        seen = state_.load(std::memory_order_relaxed);  // as above
        continue;
      }
      if (state_.compare_exchange_weak(seen, seen - kReader,
                                       std::memory_order_release,   // [shared_mutex.pass]
                                       std::memory_order_relaxed))  // failed: tried again
        return true;
    }
  }

 private:
  bool take(std::uint32_t& seen, std::uint32_t next) noexcept {
    return state_.compare_exchange_weak(seen, next,
                                        std::memory_order_acquire,   // [shared_mutex.pass]
                                        std::memory_order_relaxed);  // failed: tried again
  }
  bool mark_waiting(std::uint32_t& seen) noexcept {
    return state_.compare_exchange_weak(seen, seen | kWaiting,
                                        std::memory_order_relaxed,   // under the lock
                                        std::memory_order_relaxed);  // failed: tried again
  }

  // By the only one who has it, who hands it over. False: nobody waits any more, and the mark is gone.
  template <class Wake>
  bool let_in_next(bool readers_first, Wake&& wake) noexcept {
    wake_list<record> next;
    {
      const os::lock_guard hold(guard_);
      state_.load(std::memory_order_acquire);  // [shared_mutex.pass]: what the other readers did
      std::uint32_t after = readers_first ? all_readers(next) : first_writer(next);
      if (after == 0) after = readers_first ? first_writer(next) : all_readers(next);
      if (after == 0) {
        state_.fetch_and(~kWaiting, std::memory_order_relaxed);  // under the lock
        return false;
      }
      if (!writers_.empty() || !readers_.empty()) after |= kWaiting;
      state_.store(after, std::memory_order_release);  // [shared_mutex.pass]
    }
    next.wake_all(wake);
    return true;
  }

  std::uint32_t all_readers(wake_list<record>& next) noexcept {
    std::uint32_t n = 0;
    for (; record* const r = readers_.take(); n += kReader) next.add(r);
    return n;
  }
  std::uint32_t first_writer(wake_list<record>& next) noexcept {
    record* const r = writers_.take();
    if (r == nullptr) return 0;
    next.add(r);
    return kWriter;
  }

  word& state_;
  lock& guard_;
  queue writers_;
  queue readers_;
};

}  // namespace weft::sync
