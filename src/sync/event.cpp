// event.cpp: weft::event on event_core.
#include "os/futex.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"
#include "sync/event_core.hpp"

#include <weft/event.hpp>

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
  sched::park(&publish, &w, rt::wait_reason::event, &state_);
}

void event::set() noexcept {
  const sched::bracket inside;
  core::set(state_, [&](rt::G* gp) { sched::ready(inside.m(), gp); });
}

void event::reset() noexcept { core::reset(state_); }

}  // namespace weft::inline v1
