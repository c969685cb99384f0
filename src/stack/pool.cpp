// pool.cpp: see pool.hpp.

#include "stack/pool.hpp"

#include <utility>

namespace weft::stack {

void pool::put(head* stack) noexcept {
  if (open_.n == kBatch) append_newest(std::exchange(open_, {nullptr, 0}));
  stack->next = open_.first;
  open_ = {stack, open_.n + 1};
  ++nwarm_;
}

void pool::put_batch(chain batch) noexcept {
  if (batch.n == 0) return;
  append_newest(batch);
  nwarm_ += batch.n;
}

head* pool::take() noexcept {
  if (open_.n == 0) open_ = remove_newest();
  if (open_.n == 0) return nullptr;
  head* const stack = open_.first;
  open_ = {stack->next, open_.n - 1};
  note_taken(1);
  return stack;
}

chain pool::take_batch() noexcept {
  chain batch = remove_newest();
  if (batch.n == 0) batch = std::exchange(open_, {nullptr, 0});
  note_taken(batch.n);
  return batch;
}

chain pool::take_unneeded(std::size_t max) noexcept {
  if (max > low_water_) max = low_water_;
  if (max == 0) return {nullptr, 0};
  chain batch = remove_oldest();
  if (batch.n == 0) batch = std::exchange(open_, {nullptr, 0});
  if (batch.n > max) {
    head* last = batch.first;
    for (std::size_t i = 1; i < max; ++i) last = last->next;
    append_oldest({last->next, batch.n - static_cast<std::uint32_t>(max)});
    last->next = nullptr;
    batch.n = static_cast<std::uint32_t>(max);
  }
  nwarm_ -= batch.n;
  low_water_ -= batch.n;
  return batch;
}

void pool::append_newest(chain batch) noexcept {
  head* const b = batch.first;
  b->nbatch = batch.n;
  b->next_batch = newest_;
  b->prev_batch = nullptr;
  (newest_ != nullptr ? newest_->prev_batch : oldest_) = b;
  newest_ = b;
}

void pool::append_oldest(chain batch) noexcept {
  head* const b = batch.first;
  b->nbatch = batch.n;
  b->next_batch = nullptr;
  b->prev_batch = oldest_;
  (oldest_ != nullptr ? oldest_->next_batch : newest_) = b;
  oldest_ = b;
}

chain pool::remove_newest() noexcept {
  head* const b = newest_;
  if (b == nullptr) return {nullptr, 0};
  newest_ = b->next_batch;
  (newest_ != nullptr ? newest_->prev_batch : oldest_) = nullptr;
  return {b, b->nbatch};
}

chain pool::remove_oldest() noexcept {
  head* const b = oldest_;
  if (b == nullptr) return {nullptr, 0};
  oldest_ = b->prev_batch;
  (oldest_ != nullptr ? oldest_->next_batch : newest_) = nullptr;
  return {b, b->nbatch};
}

void pool::note_taken(std::size_t n) noexcept {
  nwarm_ -= n;
  if (nwarm_ < low_water_) low_water_ = nwarm_;
}

}  // namespace weft::stack
