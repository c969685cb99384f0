// completion.cpp: detail::completion on event_core. One handle waits, perhaps not for ever.
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "sched/entry.hpp"
#include "sched/park_until.hpp"
#include "sync/event_core.hpp"

#include <weft/detail/completion.hpp>
#include <weft/go.hpp>

namespace weft::inline v1::detail {

namespace {

using core = sync::event_core<os::futex_atomics, sched::waiter>;

struct waiting {
  core::record record{};
  core::word* state;
};

bool enter(sched::waiter* w, void* arg) {
  auto* const mine = static_cast<waiting*>(arg);
  mine->record.who = w;
  return core::push(*mine->state, &mine->record);
}

bool withdraw(sched::waiter*, void* arg) {
  auto* const mine = static_cast<waiting*>(arg);
  return core::withdraw_only(*mine->state, &mine->record);
}

// Without a limit.
struct patient {
  waiting mine;
  sched::waiter who{};
};

bool publish(rt::G* gp, void* arg) {
  auto* const p = static_cast<patient*>(arg);
  p->who.gp = gp;
  return enter(&p->who, &p->mine);
}

}  // namespace

void completion::wait_slow() noexcept {
  static_assert(kSet == core::kSet);
  patient p{{.state = &state_}};
  sched::park(&publish, &p, rt::wait_reason::join, &state_);
}

bool completion::wait_until_slow(std::int64_t deadline_ns) noexcept {
  if (deadline_ns == rt::kNever) {
    wait_slow();
    return true;
  }
  if (deadline_ns <= os::now_ns()) {
    yield();  // whoever asks in a loop lets others get on
    return state_.load(std::memory_order_acquire) == kSet;  // [event.set]
  }
  waiting mine{.state = &state_};
  return sched::park_until({&enter, &withdraw, &mine}, deadline_ns, rt::wait_reason::join, &state_);
}

bool completion::finish() noexcept {
  const sched::bracket inside;
  return core::set(state_, [&](sched::waiter* w) { sched::end_wait(inside.m(), w); });
}

bool completion::detach() noexcept { return core::detach(state_); }

}  // namespace weft::inline v1::detail
