// pool.hpp: the free stacks of one class.
//
// Warm stacks keep their memory and hang together by the links in their heads. They are kept in batches of up to kBatch, the unit
// that a P's cache takes and gives, so that neither walks a list under the lock. Single releases gather in the open chain until
// it is a batch. The newest batch is handed out first (its lines are in somebody's cache), the oldest is scavenged first.
//
//    open chain -> newest batch <-> ... <-> oldest batch
//
// Cold stacks have given their memory back: nothing can be stored in them, so the arena links them. Unguarded slots are those
// whose guard the kernel refused; they wait for the next try and are never handed out (S1 in stack.hpp).
//
// When is a warm stack cold enough to scavenge? `low_water_` is the smallest number of warm stacks since the last look: so many
// were not needed in all that time, and since the newest go first, they are the oldest ones.
//
// Locking: all under the layer's lock.

#pragma once

#include "stack/arena.hpp"

namespace weft::stack {

struct chain {
  head* first;
  std::uint32_t n;
};

class pool {
 public:
  constexpr pool() noexcept = default;
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  void put(head* stack) noexcept;
  void put_batch(chain batch) noexcept;
  head* take() noexcept;        // nullptr: no warm one
  chain take_batch() noexcept;  // {nullptr, 0}: no warm one

  // Up to kBatch of the oldest stacks among those not needed since begin_period(), at most `max`.
  chain take_unneeded(std::size_t max) noexcept;
  void begin_period() noexcept { low_water_ = nwarm_; }

  std::size_t nwarm() const noexcept { return nwarm_; }

  slot_list cold;
  slot_list unguarded;

 private:
  void append_newest(chain batch) noexcept;
  void append_oldest(chain batch) noexcept;
  chain remove_newest() noexcept;
  chain remove_oldest() noexcept;
  void note_taken(std::size_t n) noexcept;

  chain open_ = {nullptr, 0};
  head* newest_ = nullptr;
  head* oldest_ = nullptr;
  std::size_t nwarm_ = 0;
  std::size_t low_water_ = 0;
};

}  // namespace weft::stack
