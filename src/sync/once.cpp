// once.cpp: weft::once on once_core.
#include "sched/crash.hpp"
#include "sync/once_core.hpp"
#include "sync/waiting.hpp"

#include <weft/go.hpp>
#include <weft/once.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::once_core<os::futex_atomics, rt::G>;

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
    sync::park_in_list([this](core::record* mine) { return core::push(state_, mine); },
                       rt::wait_reason::once_call, this);
  }
}

void once::finish(bool is_done) noexcept {
  runner_.store(0, std::memory_order_relaxed);  // as above; before somebody else can be the runner
  const sched::bracket inside;
  core::finish(state_, is_done, sync::waker{inside.m()});
}

}  // namespace weft::inline v1
