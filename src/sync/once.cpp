// once.cpp: weft::once on once_core.
#include "sync/once_core.hpp"

#include "os/futex.hpp"
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"

#include <weft/go.hpp>
#include <weft/once.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::once_core<os::futex_atomics, rt::G>;

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

bool once::begin() noexcept {
  static_assert(kDone == core::kDone);
  const std::uint64_t me = this_goroutine::id();
  for (;;) {
    switch (core::begin(state_)) {
      case core::step::run:
        runner_.store(me, std::memory_order_relaxed);  // only this one asks for itself
        return true;
      case core::step::done:
        return false;
      case core::step::must_wait:
        break;
    }
    if (runner_.load(std::memory_order_relaxed) == me)  // nobody else writes that number
      sched::misuse("once.call() inside its own function");
    waiting w{{nullptr, nullptr}, &state_};
    sched::park(&publish, &w, rt::wait_reason::once_call, this);
  }
}

void once::finish(bool is_done) noexcept {
  runner_.store(0, std::memory_order_relaxed);  // as above; before somebody else can be the runner
  const sched::bracket inside;
  core::finish(state_, is_done, [&](rt::G* gp) { sched::ready(inside.m(), gp); });
}

}  // namespace weft::inline v1
