// mutex.cpp: weft::mutex and weft::timed_mutex on mutex_core.
#include "sched/crash.hpp"
#include "sync/mutex_core.hpp"
#include "sync/waiting.hpp"

#include <weft/go.hpp>
#include <weft/mutex.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::mutex_core<os::futex_atomics, sched::waiter, sync::goroutines>;

constexpr std::int64_t kStarvingNs = os::kMillisecond;
constexpr int kLongestPause = 64;

core core_of(std::atomic<std::uint32_t>& state, detail::waiters& w) noexcept {
  return {state, sync::lock_of(w), w.queue.first, w.queue.last};
}

struct waiting {
  core mutex;
  core::record mine{};
};

bool enter(sched::waiter* w, void* arg) {
  auto* const me = static_cast<waiting*>(arg);
  me->mine.who = w;
  return me->mutex.enter(&me->mine);
}

bool withdraw(sched::waiter*, void* arg) {
  auto* const me = static_cast<waiting*>(arg);
  return me->mutex.withdraw(&me->mine);
}

// The holder may be running, and soon be done: only if another P runs at all, or this is no goroutine.
bool is_holder_likely_running() noexcept {
  if (sched::current_m() == nullptr) return true;
  // relaxed, both: hints
  const std::uint32_t nprocs = sched::sched.nprocs.load(std::memory_order_relaxed);
  return nprocs > 1 && sched::sched.npidle.load(std::memory_order_relaxed) + 1 < nprocs;
}

// Less and less often, a few microseconds in all: each look takes the word out of the cache of the one who works with it, and who takes it
// over after a long while has it for a long while.
bool spin(waiting& me) noexcept {
  if (!is_holder_likely_running()) return false;
  for (int npauses = 1; npauses <= kLongestPause; npauses *= 2) {
    for (int i = 0; i < npauses; ++i) os::futex_atomics::pause();
    if (!me.mutex.is_locked() && me.mutex.take(&me.mine)) return true;
  }
  return false;
}

}  // namespace

bool mutex::lock_slow(std::int64_t deadline_ns) noexcept {
  static_assert(kTurn == core::kTurn && kTurns == core::kTurns && kTurns == core::kCalm);
  static_assert(kLocked == core::kLocked && detail::kLastNs == rt::kNever);
  waiting me{core_of(state_, waiters_)};
  if (me.mutex.take(&me.mine) || spin(me)) return true;
  std::int64_t began_ns = 0;
  for (;;) {
    const std::int64_t now_ns = sched::now_ns();
    if (began_ns == 0) began_ns = now_ns;
    if (deadline_ns <= now_ns) {
      if (!me.mine.has_waited) yield();  // whoever asks in a loop lets others get on
      const sched::bracket inside;
      return me.mutex.take_or_give_up(&me.mine);
    }
    me.mine.is_starving = now_ns - began_ns > kStarvingNs;
    const rt::wait_reason why =
        deadline_ns == rt::kNever ? rt::wait_reason::mutex_lock : rt::wait_reason::timed_mutex_lock;
    if (!sync::wait_until({&enter, &withdraw, &me}, deadline_ns, why, this)) return false;
    if (me.mine.has_lock || me.mutex.take(&me.mine)) return true;
  }
}

bool mutex::unlock_calm() noexcept { return core_of(state_, waiters_).release_alone(); }

void mutex::unlock_slow() noexcept {
  core c = core_of(state_, waiters_);
  for (;;) {
    switch (c.release_quietly()) {
      case core::step::done:
        return;
      case core::step::not_locked:
        sched::misuse("unlock of unlocked mutex");
      case core::step::must_wake:
        break;
    }
    const sched::bracket inside;
    if (c.release_to_next(sync::waker{inside.m()})) return;
  }
}

}  // namespace weft::inline v1
