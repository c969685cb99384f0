// store_buffer.cpp: the memory of an x86. See engine.hpp.
//
// A store waits in its thread's queue, first in first out, and its own thread reads it from there. When it leaves is chosen only when
// somebody else comes to its location: all that are waiting there have left (0, as in a sequentially consistent memory), or all but the last,
// and so on. What lies before it in its queue leaves with it. Nobody can tell this from stores that leave by themselves, since the order of
// two events at different locations is seen by nobody but through such looks.
#include "explorer/engine.hpp"

namespace weft::model {

std::uint64_t engine::load_buffered(const cell& c) {
  const auto& mine = threads_[current_].buffer;
  for (auto s = mine.rbegin(); s != mine.rend(); ++s) {
    if (s->where == &c) return s->value;
  }
  observe(c, current_);
  return c.value;
}

void engine::store_buffered(cell& c, std::uint64_t value, std::memory_order order) {
  if (order == std::memory_order_seq_cst) {
    settle(c);
    c.value = value;
    return;
  }
  threads_[current_].buffer.push_back({&c, value, nbuffered_++});
}

void engine::settle(const cell& c) {
  flush_all(current_);
  observe(c, current_);
}

void engine::observe(const cell& c, unsigned by) {
  for (unsigned i = 0; i < program_.nthreads; ++i) {
    if (i == by || threads_[i].buffer.empty()) continue;
    std::uint64_t numbers[8];
    unsigned n = 0;
    for (const buffered_store& s : threads_[i].buffer) {
      if (s.where == &c && n < 8) numbers[n++] = s.number;
    }
    if (n == 0) continue;
    const unsigned nkept = choose(n + 1, true);
    if (nkept < n) flush_until(i, numbers[n - 1 - nkept]);
  }
}

// Stores of others to the same location that were made before it go first, or not.
void engine::flush_first(unsigned t) {
  const buffered_store s = threads_[t].buffer.front();
  for (unsigned i = 0; i < program_.nthreads; ++i) {
    if (i == t) continue;
    std::uint64_t before = 0;
    bool is_any = false;
    for (const buffered_store& other : threads_[i].buffer) {
      if (other.where != s.where || other.number > s.number) continue;
      before = other.number;
      is_any = true;
    }
    if (is_any && choose(2, true) == 0) flush_until(i, before);
  }
  auto& mine = threads_[t].buffer;
  if (mine.empty() || mine.front().number != s.number) return;  // it had to go first itself
  mine.erase(mine.begin());
  s.where->value = s.value;
  behind_ = ~0u;
}

void engine::flush_until(unsigned t, std::uint64_t number) {
  auto& waiting = threads_[t].buffer;
  while (!waiting.empty() && waiting.front().number <= number) flush_first(t);
}

void engine::flush_all(unsigned t) {
  while (!threads_[t].buffer.empty()) flush_first(t);
}

void engine::flush_everything() {
  for (unsigned i = 0; i < program_.nthreads; ++i) flush_all(i);
}

}  // namespace weft::model
