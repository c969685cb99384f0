// completion.cpp: detail::completion on event_core. One handle waits, perhaps not for ever.
#include "sync/event_core.hpp"
#include "sync/waiting.hpp"

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

}  // namespace

void completion::wait_slow() noexcept {
  static_assert(kSet == core::kSet && detail::kLastNs == rt::kNever);
  wait_until_slow(rt::kNever);
}

bool completion::wait_until_slow(std::int64_t deadline_ns) noexcept {
  if (deadline_ns != rt::kNever && deadline_ns <= sched::now_ns()) {
    yield();  // whoever asks in a loop lets others get on
    return state_.load(std::memory_order_acquire) == kSet;  // [event.set]
  }
  waiting mine{.state = &state_};
  return sync::wait_until({&enter, &withdraw, &mine}, deadline_ns, rt::wait_reason::join, &state_);
}

bool completion::finish() noexcept {
  const sched::bracket inside;
  return core::set(state_, sync::waker{inside.m()});
}

bool completion::detach() noexcept { return core::detach(state_); }

}  // namespace weft::inline v1::detail
