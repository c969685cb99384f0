// uring_slots.cpp: see uring_slots.hpp.
#include "os/uring_slots.hpp"

#include <new>

#include "os/vm.hpp"

namespace weft::os {

bool uring_slots::open() noexcept {
  // Zero bytes are null pointers. Only the pages of chunks that exist are ever touched.
  chunks_ = reinterpret_cast<chunk*>(reserve(kChunks * sizeof(chunk), page_size()).base);
  return chunks_ != nullptr;
}

void uring_slots::close() noexcept {
  if (chunks_ == nullptr) return;
  // relaxed, all: nobody uses them
  const std::size_t n = nchunks_.exchange(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < n; ++i) {
    uring_slot* const slots = chunks_[i].load(std::memory_order_relaxed);  // as above
    if (slots != nullptr)
      unmap(reinterpret_cast<std::byte*>(slots), kPerChunk * sizeof(uring_slot));
  }
  unmap(reinterpret_cast<std::byte*>(chunks_), kChunks * sizeof(chunk));
  chunks_ = nullptr;
  first_ = last_ = nullptr;
  wishes_.store(nullptr, std::memory_order_relaxed);  // as above
}

uring_slot* uring_slots::find(int fd) const noexcept {
  const auto n = static_cast<std::size_t>(fd);
  if (fd < 0 || n / kPerChunk >= kChunks) return nullptr;
  uring_slot* const slots =
      chunks_[n / kPerChunk].load(std::memory_order_acquire);  // made before: make()
  return slots != nullptr ? &slots[n % kPerChunk] : nullptr;
}

uring_slot* uring_slots::make(int fd) noexcept {
  const auto n = static_cast<std::size_t>(fd);
  if (fd < 0 || n / kPerChunk >= kChunks) return nullptr;
  if (uring_slot* const slot = find(fd)) return slot;
  constexpr std::size_t kBytes = kPerChunk * sizeof(uring_slot);
  std::byte* const memory = reserve(kBytes, page_size()).base;
  if (memory == nullptr) return nullptr;
  auto* const slots = reinterpret_cast<uring_slot*>(memory);
  const int first = static_cast<int>(n - n % kPerChunk);
  for (std::size_t i = 0; i < kPerChunk; ++i)
    (::new (&slots[i]) uring_slot)->fd = first + static_cast<int>(i);
  // Before it is there: close() must not miss it. Relaxed: whoever closes it comes after us by other means.
  for (std::size_t seen = nchunks_.load(std::memory_order_relaxed); seen <= n / kPerChunk;) {
    if (nchunks_.compare_exchange_weak(seen, n / kPerChunk + 1, std::memory_order_relaxed)) break;
  }
  uring_slot* others = nullptr;
  // release: what was made; acquire: what another one has made meanwhile
  if (!chunks_[n / kPerChunk].compare_exchange_strong(others, slots, std::memory_order_acq_rel))
    unmap(memory, kBytes);
  return find(fd);
}

bool uring_slots::wish(uring_slot* slot) noexcept {
  if (slot->is_listed.exchange(true, std::memory_order_acq_rel)) return false;  // [uring.wish]
  uring_slot* first = wishes_.load(std::memory_order_relaxed);                  // only linked
  do {
    slot->next_wish = first;
  } while (!wishes_.compare_exchange_weak(first, slot, std::memory_order_release,
                                          std::memory_order_relaxed));  // what the slot says
  return first == nullptr;
}

void uring_slots::gather() noexcept {
  uring_slot* newest = wishes_.exchange(nullptr, std::memory_order_acquire);  // what the slots say
  uring_slot* oldest = nullptr;
  uring_slot* const last = newest;
  while (newest != nullptr) {  // the other way round
    uring_slot* const older = newest->next_wish;
    newest->next_wish = oldest;
    oldest = newest;
    newest = older;
  }
  if (oldest == nullptr) return;
  (last_ != nullptr ? last_->next_wish : first_) = oldest;
  last_ = last;
}

uring_slot* uring_slots::take_wish() noexcept {
  uring_slot* const slot = first_;
  if (slot == nullptr) return nullptr;
  first_ = slot->next_wish;  // before it can be listed again
  if (first_ == nullptr) last_ = nullptr;
  slot->is_listed.exchange(false, std::memory_order_acq_rel);  // [uring.wish]
  return slot;
}

void uring_slots::wish_again(uring_slot* slot) noexcept {
  if (slot->is_listed.exchange(true, std::memory_order_acq_rel)) return;  // [uring.wish]
  slot->next_wish = nullptr;
  (last_ != nullptr ? last_->next_wish : first_) = slot;
  last_ = slot;
}

}  // namespace weft::os
