// event.cpp: weft::event on event_core.
#include "sync/event_core.hpp"
#include "sync/waiting.hpp"

#include <weft/event.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::event_core<os::futex_atomics, rt::G>;

}  // namespace

void event::wait_slow() noexcept {
  static_assert(kSet == core::kSet);
  sync::park_in_list([this](core::record* mine) { return core::push(state_, mine); },
                     rt::wait_reason::event, &state_);
}

void event::set() noexcept {
  const sched::bracket inside;
  core::set(state_, sync::waker{inside.m()});
}

void event::reset() noexcept { core::reset(state_); }

}  // namespace weft::inline v1
