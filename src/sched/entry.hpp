// entry.hpp: the way into the runtime and out of it: the bracket.
//
// Every call that touches a P is between enter() and leave(). Inside, the P cannot be taken from this M, and nothing is called
// that may take a lock outside weft: no malloc, no throw, no stdio. Outside, the P may be gone at any instruction.
//
// The cost is a store, a load and a branch on the way in, and the same on the way out. [detach.exclusive] in
// rt/detach_word.hpp says why that is enough.
#pragma once

#include "rt/m.hpp"
#include "sched/current.hpp"
#include "sched/state.hpp"

namespace weft::sched {

// The P was taken, or somebody asks for it: wait until this M has one. Returns on the same thread.
void enter_slow(M* mp) noexcept;

// Somebody wants this M's attention: the end of a slice, a stop of the world.
void leave_slow() noexcept;

// Null: this thread is not weft's, and there is no bracket.
[[gnu::always_inline]] inline M* enter() noexcept {
  M* const mp = current_m();
  // relaxed: fixed before this M's thread was made
  if (mp != nullptr && !mp->detach.enter(sched.needs_fence.load(std::memory_order_relaxed)))
      [[unlikely]]
    enter_slow(mp);
  return mp;
}

// mp: as asked for after the last switch.
[[gnu::always_inline]] inline void leave(M* mp) noexcept {
  if (mp->detach.leave()) [[unlikely]]
    leave_slow();
}

// The bracket for calls that do not switch inside.
class bracket {
 public:
  bracket() noexcept : mp_(enter()) {}
  ~bracket() {
    if (mp_ != nullptr) leave(mp_);
  }
  bracket(const bracket&) = delete;
  bracket& operator=(const bracket&) = delete;

  M* m() const noexcept { return mp_; }
  P* p() const noexcept { return mp_ != nullptr ? mp_->proc() : nullptr; }

 private:
  M* const mp_;
};

}  // namespace weft::sched
