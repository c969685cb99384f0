// event.cpp: weft::event on event_core.
#include <weft/event.hpp>

#include "os/futex.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"
#include "sync/event_core.hpp"

namespace weft::inline v1 {

namespace {

using core = sync::event_core<os::futex_atomics, rt::G>;

struct waiting {
  core::record mine;
  core::word* state;
};

bool publish(rt::G* gp, void* arg) {
  auto* const w = static_cast<waiting*>(arg);
  w->mine.who = gp;
  return core::push(*w->state, &w->mine);
}

}  // namespace

void event::wait_slow() noexcept {
  static_assert(kSet == core::kSet);
  waiting w{{nullptr, nullptr}, &state_};
  sched::park(&publish, &w, rt::wait_reason::event, this);
}

void event::set() noexcept {
  sched::bracket inside;
  core::set(state_, [&](rt::G* gp) { sched::ready(inside.m(), gp); });
}

void event::reset() noexcept { core::reset(state_); }

}  // namespace weft::inline v1
