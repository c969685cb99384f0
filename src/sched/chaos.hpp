// chaos.hpp: the scheduler made unkind on purpose: WEFT_DEBUG=chaos=..., and the choices of explored runs.
//
// What it can do, each by itself:
//   yields   on its way out of the runtime any goroutine may have to make room for another
//   order    every switch looks round, and whoever is runnable may come next, not who came first
//   delays   a thread dawdles where other runtimes once lost a wake-up (`window`)
// and forced migration (sched.is_migrating), which is older. It changes only what the machine's timing could have done as well, but for the
// order, which nobody is promised.
//
// Cost while it is off: none on the fast ways. `yields` is a bit in the word that leave() tests anyway (remind_for_good), `order` uses up every
// budget of direct switches, and the windows lie on ways that take L, sleep, or are about to make a system call; the two that do not
// (ready() and launch()) share the test that forced migration needs (is_chaotic).
//
// Who decides is a strategy: at random, from one row of numbers that the seed fixes, or as whoever starts the runtime wants it (plan_chaos). On
// one processor the questions come in the order in which the program makes them, one at a time.
#pragma once

#include <cstdint>

#include "sched/state.hpp"

namespace weft::sched {

// Bits of sched.chaos, as in os::debug_settings::chaos.
inline constexpr std::uint32_t kChaosYields = os::kChaosYields;
inline constexpr std::uint32_t kChaosOrder = os::kChaosOrder;
inline constexpr std::uint32_t kChaosDelays = os::kChaosDelays;

// Relaxed: fixed before any thread was made.
inline bool is_chaos(std::uint32_t which) noexcept {
  return (sched.chaos.load(std::memory_order_relaxed) & which) != 0;
}

// Whoever decides. Asked inside the runtime, by any M, with L held where it says so: it may neither allocate nor wait nor call weft.
class strategy {
 public:
  // `self` is about to leave the runtime: true: others get a chance first, it stands at the end of the queue. (If there is anybody else: when
  // nobody is queued it goes on, without a further question.)
  virtual bool yields(const G* self) noexcept = 0;

  // Who is next: the number of the one that `runnable` (never empty) is to lose; they follow G::link, longest waiting first. Under L.
  virtual std::uint32_t choose(const rt::g_queue& runnable) noexcept = 0;

 protected:
  ~strategy() = default;
};

// How the next runtime is to be, instead of what WEFT_DEBUG says of chaos and migration. `by` must live until it has ended; null: at random.
struct chaos_plan {
  std::uint32_t switches = 0;  // kChaos...
  std::uint64_t seed = 0;      // of what is decided at random
  strategy* by = nullptr;
  bool is_timeless =
      false;  // nobody is stopped because of the time it has run, or because its thread sleeps
};
// For the next runtime that this thread starts, and only that; null: none. It is read while the runtime starts.
void plan_chaos(const chaos_plan* plan) noexcept;

// Before any thread is made. What the environment says stands in sched.set.debug.
void start_chaos() noexcept;

// The next of the row of numbers, in [0, n).
std::uint32_t draw(std::uint32_t n) noexcept;

// The strategy's word.
bool must_yield(const G* self) noexcept;
std::uint32_t choose_next(const rt::g_queue& runnable) noexcept;

// Where a thread may dawdle. Not with L held, but for the one that says so, and the end of a runtime.
enum class window : std::uint8_t {
  queued,         // a goroutine is in a queue, and nobody has looked whether somebody must be woken
  looked,         // an idle P was seen, and nobody has looked whether somebody spins
  raised,         // somebody counts as spinning, and found no P to spin with: under L
  chosen,         // an M was chosen to be woken, and sleeps on
  p_dropped,      // the P is in the idle list, and this M still counts as spinning
  spun,           // it does not any more, and has not looked once more
  asleep_soon,    // it can be found in the list of sleepers, and does not sleep yet
  asked,          // the request stands in an M's word, before the barrier
  settling,       // and after it, before the answer
  p_taken,        // a P is in a requester's hands
  lost,           // an M has found its P gone, or asked for, and has not settled that
  arming,         // the heap is chosen, and the timer is not in it
  armed,          // it is, and nobody has looked who watches
  to_fire,        // timers are due, and not taken from the heap
  entered,        // a waiter stands in a poll word, and has not looked at the revision
  polled,         // the kernel has told, and nobody has been told yet
  off_stack,      // a goroutine is off its stack, and cannot be found yet
  parted,         // nor can it yet, and its timer may fire
  handing_off,    // a P without a thread
  handed_off,     // it went into the idle list
  stopping,       // the world is to stop: between announcement, rounds and answers
  starting,       // the world runs again, and those who are to run are not woken
  thread_made,    // a thread exists, and the M does not know its handle
  thread_begins,  // it runs, and has not looked at anything
  kCount,
};

void dawdle_now(window where) noexcept;
inline void dawdle(window where) noexcept {
  if (is_chaos(kChaosDelays)) [[unlikely]]
    dawdle_now(where);
}

// For tests: how often somebody came by there, with delays switched on.
std::uint64_t visits(window where) noexcept;

}  // namespace weft::sched
