// conserve.hpp: nobody rests while there is work: the watch over [idle.no_lost_wake].
//
// A lost wake-up shows as a P in the idle list, something in a run queue, and nobody who is going to bring the two together. Most programs
// survive that: the next goroutine that is started makes it good. So it is looked for, always, by sysmon in passing, counted
// (stats().unconserved) and made good; with WEFT_DEBUG=conserve=1, as in all tests, it is fatal.
//
// A busy machine must not be taken for one. A thread that has no CPU for 50 ms may be the one that has queued something and is about to
// wake somebody, or the one that was woken. So time alone proves nothing (it only keeps the look cheap, and leaves deferred wake-ups alone,
// wake.hpp); what counts is said under L, after the queues were looked at:
//   no stop of the world is under way, no P waits for a thread, no M was given a P, spins, or is about to borrow one;
//   every M is asleep, or outside the runtime in user code.
// Whoever queued something was inside then, and has left since, so its wake-up has been made; and whoever dropped its P and must
// look once more is neither asleep nor outside. Nobody is left who would come.
#pragma once

#include <cstdint>

#include "os/text.hpp"
#include "sched/state.hpp"

namespace weft::sched {

// By sysmon at each look, after it has seen to deferred wake-ups.
class conservation_watch {
 public:
  // True: there is a suspicion, so the next look should come soon.
  bool look(std::int64_t now_ns) noexcept;

 private:
  void begin_anew() noexcept;

  std::int64_t since_ns_ =
      0;  // each look since then has found work beside an idle P; 0: the last one did not
  int nlooks_ = 0;
  int nproved_ = 0;  // and the last so many that nobody is under way
};

}  // namespace weft::sched
