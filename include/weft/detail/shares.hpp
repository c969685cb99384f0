// shares.hpp: counting those who have something, and deciding between two who both want to. Not for users.
//
// Templates over the atomics, so that tests/model explores what is shipped.
//
// Edges
//   [context.free]  give_back: acq_rel  ->  the last give_back: acq_rel (whoever frees it sees all that was done with it)
#pragma once

#include <atomic>
#include <cstddef>

#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

// Begins with one share, its maker's.
template <template <class> class Atomic>
class basic_share_count {
 public:
  // Relaxed: whoever takes one more has one.
  void take() noexcept { n_.fetch_add(1, std::memory_order_relaxed); }

  // For one who has none, but knows that the memory is there. False: it is about to be freed. Relaxed: what lets him know it orders the rest.
  bool try_take() noexcept {
    std::size_t seen = n_.load(std::memory_order_relaxed);
    while (seen != 0 && !n_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) {
    }
    return seen != 0;
  }

  // True: that was the last.
  [[nodiscard]] bool give_back() noexcept {
    return n_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // [context.free]
  }

 private:
  Atomic<std::size_t> n_{1};
};
using share_count = basic_share_count<std::atomic>;

// Once, by whoever comes first.
template <template <class> class Atomic>
class basic_decision {
 public:
  // True: it is the caller's. Relaxed: it hands nothing over.
  [[nodiscard]] bool take() noexcept {
    return !is_taken_.exchange(true, std::memory_order_relaxed);
  }

 private:
  Atomic<bool> is_taken_{false};
};
using decision = basic_decision<std::atomic>;

}  // namespace weft::inline v1::detail
