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

// For blocking(): true if mp needs no P for it and was not asked to give one up; outside again. From user context.
bool begin_on_credit(M* mp) noexcept;
// mp is inside, in the last blocking() of its goroutine. True: it goes on without a P.
bool end_on_credit(M* mp) noexcept;

// Instead of enter_slow(), for calls that need no P. True: mp slept, has no P, and owes none yet; it is outside again. False: enter_slow().
bool stay_out(M* mp) noexcept;

// Somebody wants this M's attention: the end of a slice, a stop of the world.
void leave_slow() noexcept;

// Null: this thread is not weft's, and there is no bracket.
[[gnu::always_inline]] inline M* enter() noexcept {
  M* const mp = current_m();
  if constexpr (!rt::kCanLoseP) return mp;
  if (mp != nullptr && !mp->detach.enter(mp->needs_fence)) [[unlikely]]
    enter_slow(mp);
  return mp;
}

// The way in for a call that has nothing to do when this M, which is ours, has no P. False: so it is, and it stays out.
[[gnu::always_inline]] inline bool enter_if_needed(M* mp) noexcept {
  if constexpr (!rt::kCanLoseP) return true;
  if (!mp->detach.enter(mp->needs_fence)) [[unlikely]] {
    if (stay_out(mp)) return false;
    enter_slow(mp);
  }
  return true;
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
