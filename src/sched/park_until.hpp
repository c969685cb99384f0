// park_until.hpp: waiting for somebody, but not for ever.
//
// park() with a time limit. Whoever waits is known to its waker as a `waiter`, which lies in its frame; the waker calls end_wait() and does
// not touch the waiter again. rt/timed_wait_word.hpp has the protocol.
#pragma once

#include "rt/timed_wait_word.hpp"
#include "sched/park.hpp"

namespace weft::sched {

// A wait that its waker or the time can end, in the waiter's frame. publish (as in park()) ends with word.park(), whose answer it gives.
struct limited_wait {
  publish_fn publish;
  void* arg;
  std::int64_t deadline_ns;  // kNever: only the waker ends it
  rt::timed_wait_word word{};
  G* gp = nullptr;
  rt::timer* timer = nullptr;
  std::uint64_t arming = 0;
};

// As park_inside(). When it returns the timer does not touch the wait any more.
M* park_limited(M* mp, limited_wait& w, wait_reason why, const void* object) noexcept;

struct waiter {
  G* gp = nullptr;
  rt::timed_wait_word* timed = nullptr;  // null: only the waker ends the wait
};

// What to do with a waiter, all inside the bracket.
struct wait_list {
  // Enters it where the waker looks. False: no need to wait, and nothing was entered.
  bool (*enter)(waiter* w, void* arg);
  // Takes it out again. False: the waker has it in hand already, and will call end_wait().
  bool (*withdraw)(waiter* w, void* arg);
  void* arg;
};

// True: there was no need to wait, or the waker came. False: the time (weft's clock) was over first.
// From user context, any thread.
bool park_until(const wait_list& list, std::int64_t deadline_ns, wait_reason why,
                const void* object) noexcept;

// Somebody who may end a wait before its waker comes. All from user context.
class revoker {
 public:
  // From now on revoke() may come, at any time. False: at once, and there is no need.
  virtual bool begin(limited_wait* w) noexcept = 0;
  // The wait is over: when it returns nobody is in revoke(), and nobody will be.
  virtual void end() noexcept = 0;

 protected:
  ~revoker() = default;
};

// As park_until(), but until the revoker has enough.
bool park_revocable(const wait_list& list, revoker& r, wait_reason why,
                    const void* object) noexcept;
// By the revoker, once.
void revoke(limited_wait* w) noexcept;

// By the waker, as the last thing it does with w: who is to be made runnable, or null.
G* take_waiter(waiter* w) noexcept;
// The same, and makes it so. Inside the bracket if the thread has an M (mp), else null.
void end_wait(M* mp, waiter* w) noexcept;

}  // namespace weft::sched
