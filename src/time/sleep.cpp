// sleep.cpp: sleep_for and sleep_until.
//
// The timer lies in the sleeper's own frame: nobody else can end this sleep, so the node is idle again when the goroutine runs.
#include <weft/clock.hpp>

#include "os/clock.hpp"
#include "rt/timer.hpp"
#include "sched/bubbles.hpp"
#include "sched/crash.hpp"
#include "sched/current.hpp"
#include "sched/park.hpp"
#include "sched/timers.hpp"

#include <weft/go.hpp>

namespace weft::inline v1 {

namespace {

struct sleeper {
  rt::timer node;
  std::int64_t until_ns;
};

void wake_up(rt::timer*, void* g, std::uint64_t) { sched::ready_by_timer(static_cast<rt::G*>(g)); }

bool go_to_bed(rt::G* gp, void* arg) {
  auto* const s = static_cast<sleeper*>(arg);
  s->node.fire = &wake_up;
  s->node.arg = gp;
  if (sched::arm_timer(sched::current_m(), &s->node, s->until_ns, gp->bubble()) == 0)
    sched::fatal("weft: out of memory for timers");
  return true;
}

}  // namespace

std::int64_t detail::now_ns() noexcept { return sched::now_ns(); }

void detail::sleep_until_ns(std::int64_t until_ns) noexcept {
  if (sched::current_m() == nullptr) {  // a plain thread sleeps by itself
    sched::die_if_forked();
    os::sleep_until(until_ns);
    return;
  }
  if (until_ns <= sched::now_ns()) {
    yield();
    return;
  }
  sleeper s{{}, until_ns};
  sched::park(&go_to_bed, &s, rt::wait_reason::sleep, nullptr, sched::way::by_scheduler);
}

}  // namespace weft::inline v1
