// timed_call.cpp: after_func: an alarm that starts a goroutine.
//
// Everything that may allocate is done when it is armed: the goroutine is made then, and lies idle, without a stack, until its time.
#include <weft/detail/timed_call.hpp>

#include <new>

#include "sched/entry.hpp"
#include "sched/start.hpp"
#include "sched/timers.hpp"
#include "time/alarm.hpp"

#include <weft/detail/launch.hpp>

namespace weft::inline v1::detail {

struct timed_call::impl : alarms::alarm {
  impl() noexcept : alarm(&start) {}

  static alarms::effect start(alarm& a, std::int64_t) {
    return {.start = std::exchange(static_cast<impl&>(a).next, nullptr)};
  }

  rt::G* next =
      nullptr;  // under the lock: what is started when the time comes; it holds a share of the call
};

timed_call::timed_call() : impl_(new impl) {}

// Whoever is armed holds a share, so it is not.
timed_call::~timed_call() {
  alarms::wait_until_over(*impl_);
  delete impl_;
}

void timed_call::run(void* storage) {
  struct share {
    timed_call* call;
    ~share() { call->release(); }
  } mine{*static_cast<timed_call**>(storage)};
  mine.call->call();
}

bool timed_call::stop() noexcept {
  rt::G* idle = nullptr;
  {
    const sched::bracket inside;
    const os::lock_guard hold(impl_->lock);
    if (!alarms::disarm_locked(*impl_)) return false;
    idle = std::exchange(impl_->next, nullptr);
  }
  cancel_launch({idle, nullptr});
  release();  // its share; the caller has one
  return true;
}

bool timed_call::reset(std::int64_t when_ns) {
  const launch l = begin_launch("weft::after_func");
  ::new (l.storage) timed_call*(this);
  retain();
  rt::G* idle = nullptr;
  bool was_armed = false;
  {
    const sched::bracket inside;
    auto* const gp = static_cast<rt::G*>(l.g);
    sched::set_origin(gp, &run, __builtin_return_address(0), inside.m());
    const os::lock_guard hold(impl_->lock);
    was_armed = alarms::disarm_locked(*impl_);
    idle = std::exchange(impl_->next, gp);
    alarms::arm_locked(*impl_, inside.m(), when_ns, 0);
    sched::settle_watch(inside.m());
  }
  if (idle != nullptr) {
    cancel_launch({idle, nullptr});
    release();
  }
  return was_armed;
}

}  // namespace weft::inline v1::detail
