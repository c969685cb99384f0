// late_mark.cpp: detail::late_mark on event_core, with an end.
//
//    sender, a goroutine of runtime e               receiver
//    set(): inside the bracket, so with a P         epoch == e ? wait : is it set ? : never
//    -- no goroutine of e has a P --
//    the end of e: epoch moves on, then tells those who wait (survivors.hpp)
// A set() is over before the epoch moves, or it never begins. So whoever sees another epoch sees it set, or nobody ever will.  [epoch.end]
#include "sched/survivors.hpp"
#include "sync/event_core.hpp"
#include "sync/waiting.hpp"

#include <weft/detail/late_mark.hpp>

namespace weft::inline v1::detail {

namespace {

using core = sync::event_core<os::futex_atomics, rt::G>;

struct waiting {
  core::word* state;
  rt::G* who = nullptr;
};

bool enter(rt::G* gp, void* arg) {
  auto* const mine = static_cast<waiting*>(arg);
  mine->who = gp;
  return core::push(*mine->state, gp);
}

bool withdraw(void* arg) {
  const auto* const mine = static_cast<const waiting*>(arg);
  return core::withdraw_only(*mine->state, mine->who);
}

}  // namespace

void late_mark::promise() noexcept {
  const rt::M* const mp = sched::current_m();
  epoch_ = 0;
  if (mp != nullptr) epoch_ = mp->curg()->epoch;
}

void late_mark::set() noexcept {
  const sched::bracket inside;
  core::set(state_, sync::waker{inside.m()});
}

bool late_mark::wait_slow() noexcept {
  static_assert(kSet == core::kSet);
  waiting mine{&state_};
  constexpr auto kWhy = rt::wait_reason::event;
  if (epoch_ == 0) {
    sched::park(&enter, &mine, kWhy, &state_);
  } else if (sched::current_m() == nullptr) {
    sched::park_foreign_while(epoch_, &enter, &withdraw, &mine, kWhy);
  } else if (!sched::has_ended(epoch_)) {
    sched::park(&enter, &mine, kWhy, &state_);  // our own runtime's: it ends for both
  }
  return state_.load(std::memory_order_acquire) == kSet;  // [event.set]
}

}  // namespace weft::inline v1::detail
