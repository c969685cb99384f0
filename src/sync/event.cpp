// event.cpp: weft::event and detail::completion on event_core.
#include "os/futex.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"
#include "sync/event_core.hpp"

#include <weft/detail/completion.hpp>
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

void wait_for(core::word& state, rt::wait_reason why) noexcept {
  waiting w{{nullptr, nullptr}, &state};
  sched::park(&publish, &w, why, &state);
}

bool set_word(core::word& state) noexcept {
  sched::bracket inside;
  return core::set(state, [&](rt::G* gp) { sched::ready(inside.m(), gp); });
}

}  // namespace

void event::wait_slow() noexcept {
  static_assert(kSet == core::kSet);
  wait_for(state_, rt::wait_reason::event);
}

void event::set() noexcept { set_word(state_); }

void event::reset() noexcept { core::reset(state_); }

namespace detail {

void completion::wait_slow() noexcept {
  static_assert(kSet == core::kSet);
  wait_for(state_, rt::wait_reason::join);
}

bool completion::finish() noexcept { return set_word(state_); }

bool completion::detach() noexcept { return core::detach(state_); }

}  // namespace detail
}  // namespace weft::inline v1
