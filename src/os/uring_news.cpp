// uring_news.cpp: see uring_news.hpp.
#include "os/uring_news.hpp"

#include "os/futex.hpp"
#include "os/poll_bits.hpp"

namespace weft::os {

void uring_news::tell(std::span<const item> items) noexcept {
  if (items.empty()) return;
  {
    const lock_guard guard(lock_);
    for (const item& each : items) {
      each.slot->changes |= each.changes;
      if (each.slot->is_news) continue;
      each.slot->is_news = true;
      each.slot->next_news = nullptr;
      (last_ != nullptr ? last_->next_news : first_) = each.slot;
      last_ = each.slot;
    }
    has_any_.store(true, std::memory_order_seq_cst);  // [uring.no_lost_news]
  }
  wake_one();
}

// It stays in the queue, with nothing to tell.
void uring_news::drop(uring_slot* slot) noexcept {
  const lock_guard guard(lock_);
  slot->changes = 0;
}

std::size_t uring_news::take(std::span<poll_event> events) noexcept {
  if (!has_any_.load(std::memory_order_seq_cst)) return 0;  // [uring.no_lost_news]
  const lock_guard guard(lock_);
  std::size_t n = 0;
  while (first_ != nullptr && n < events.size()) {
    uring_slot* const slot = first_;
    first_ = slot->next_news;
    if (first_ == nullptr) last_ = nullptr;
    slot->is_news = false;
    if (slot->changes == 0) continue;
    events[n++] = to_poll_event(slot->cookie, slot->changes);
    slot->changes = 0;
  }
  if (first_ == nullptr) has_any_.store(false, std::memory_order_seq_cst);
  return n;
}

std::size_t uring_news::wait(std::span<poll_event> events, std::int64_t deadline_ns) noexcept {
  std::size_t n = take(events);
  if (deadline_ns == kDoNotWait) return n;  // an interruption is for one who waits
  if (n == 0) {
    nasleep_.fetch_add(1, std::memory_order_seq_cst);  // [uring.no_lost_news]
    const std::uint32_t seen = nnews_.load(std::memory_order_seq_cst);
    n = take(events);
    if (n == 0 && !is_interrupted_.load(std::memory_order_seq_cst)) {
      futex_wait(nnews_, seen, deadline_ns);
      n = take(events);
    }
    nasleep_.fetch_sub(1, std::memory_order_seq_cst);
  }
  // Whatever it comes back for, it comes back. The exchange reads what it takes away: whoever interrupted has done what it did before.
  if (is_interrupted_.load(std::memory_order_seq_cst))
    is_interrupted_.exchange(false, std::memory_order_seq_cst);
  // One was woken for all that was there.
  if (has_any_.load(std::memory_order_seq_cst)) wake_one();
  return n;
}

void uring_news::interrupt() noexcept {
  is_interrupted_.store(true, std::memory_order_seq_cst);
  wake_one();
}

void uring_news::wake_one() noexcept {
  nnews_.fetch_add(1, std::memory_order_seq_cst);  // [uring.no_lost_news]
  if (nasleep_.load(std::memory_order_seq_cst) != 0) futex_wake(nnews_, 1);
}

}  // namespace weft::os
