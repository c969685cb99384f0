// bubbles.hpp: goroutines that live in a bubble (rt/bubble.hpp): their clock, and when they count as active.
//
// Cost for all others: none. ready() tests G::place anyway, since a plain thread's proxy is woken differently; launch() tests it together with
// a flag of its own; and what a goroutine leaves behind when it parks or ends is named by G::place (departure), so that those of a bubble
// take the way of the rarer kinds.
//
// Durably blocked is who only another goroutine of the bubble, or its clock, can wake:
//   yes   channels made in the bubble, and nil ones; select on such; sleep; condition_variable, event, wait_group, join, semaphore,
//         latch, barrier; a timed_mutex with a limit; testing::wait()
//   no    channels made elsewhere; mutex, shared_mutex and once, which are often global and held for a moment; descriptors, processes
//         and signals; blocking()
// In a closed bubble (testing::explore), where all goroutines of the runtime are in it, locks count as well.
//
// Somebody outside may wake one who is durably blocked. That is sound, and then time may have moved on before.
#pragma once

#include <cstdint>

#include "os/clock.hpp"
#include "rt/bubble.hpp"
#include "rt/m.hpp"
#include "sched/current.hpp"
#include "sched/state.hpp"

namespace weft::sched {

using rt::bubble;

// When every bubble begins: the same for all, so that nothing depends on the machine's clock. (The year 2000.)
inline constexpr std::int64_t kBubbleBeginsNs = std::int64_t{946'684'800} * os::kSecond;

// number: of a bubble that exists, or existed.
bubble& bubble_at(std::uint8_t number) noexcept;

// A free one, which begins now, with this goroutine as its keeper. Null: there are too many, or no memory. From user context.
// seed: of the order in which timers of the same time fire.
bubble* take_bubble(bool is_closed, std::uint64_t seed) noexcept;
// It is over, and quiet: what is armed in it never fires. If goroutines of it have not ended they keep it until the runtime ends. By
// the keeper.
void end_bubble(bubble& b) noexcept;
// No goroutine of the runtime runs any more.
void forget_bubbles() noexcept;

// The bubble in which this goroutine is; 0: in none, or this is a plain thread.
inline std::uint8_t current_bubble() noexcept {
  const M* const mp = current_m();
  const G* const gp = mp != nullptr ? mp->curg() : nullptr;
  return gp != nullptr ? gp->bubble() : G::kOrdinary;
}

std::int64_t bubble_now_ns(std::uint8_t number) noexcept;
// The time for whoever is in that bubble; 0: in none.
inline std::int64_t now_ns(std::uint8_t number) noexcept {
  return number == G::kOrdinary ? os::now_ns() : bubble_now_ns(number);
}
// The time for this goroutine. All that compares with a user's deadline asks here.
inline std::int64_t now_ns() noexcept { return now_ns(current_bubble()); }

// A deadline of this goroutine's clock by the machine's: for what waits for the kernel.
std::int64_t to_real_ns(std::int64_t deadline_ns) noexcept;

// While one exists this goroutine is in no bubble: what it makes and starts serves the whole program. It still counts as active. From user
// context.
class outside_bubble {
 public:
  outside_bubble() noexcept {
    if (current_bubble() == G::kOrdinary) return;
    self_ = current_m()->curg();
    place_ = self_->place;
    self_->place = G::kOrdinary;
  }
  ~outside_bubble() {
    if (self_ != nullptr) self_->place = place_;
  }
  outside_bubble(const outside_bubble&) = delete;
  outside_bubble& operator=(const outside_bubble&) = delete;

 private:
  G* self_ = nullptr;
  std::uint8_t place_ = G::kOrdinary;
};

// --- counting, inside the runtime ---

// gp is in a bubble and becomes runnable for the first time.
void begin_in_bubble(G* gp) noexcept;
// gp is in a bubble, and the caller is about to make it runnable.
void unblock(G* gp) noexcept;
// What commit_departure does for those of a bubble. On the next stack.
void park_in_bubble(M* mp, const rt::commit_step& step) noexcept;
// The goroutine is gone.
void end_in_bubble(M* mp, std::uint8_t number) noexcept;

// The keeper sleeps until the bubble is quiet. From user context.
void await_quiet(bubble& b) noexcept;

}  // namespace weft::sched
