// condition_variable.cpp: weft::condition_variable on condition_core.
#include "os/thread.hpp"
#include "sync/condition_core.hpp"
#include "sync/waiting.hpp"

#include <weft/condition_variable.hpp>
#include <weft/go.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::condition_core<os::futex_atomics, sched::waiter, sync::goroutines>;

core core_of(std::atomic<std::uint32_t>& nwaiting, detail::waiters& w) noexcept {
  return {nwaiting, sync::lock_of(w), w.queue.first, w.queue.last};
}

// It stands in the queue already, and may have been notified.
bool publish(rt::G*, void* arg) { return static_cast<rt::timed_wait_word*>(arg)->park(); }

}  // namespace

bool condition_variable::wait_until_ns(mutex& m, std::int64_t deadline_ns) noexcept {
  if (deadline_ns != rt::kNever && deadline_ns <= sched::now_ns()) {
    m.unlock();
    yield();  // whoever asks in a loop lets others get on
    m.lock();
    return false;
  }
  core c = core_of(nwaiting_, waiters_);
  sched::limited_wait limit{&publish, nullptr, deadline_ns};
  limit.arg = &limit.word;
  sched::waiter me{sched::current_g(), &limit.word};
  core::record mine;
  mine.who = &me;
  c.enter<sched::bracket>(&mine, [&m] { m.unlock(); });
  rt::M* const mp =
      sched::park_limited(sched::enter(), limit, rt::wait_reason::condition_wait, this);
  bool was_notified = limit.word.has(rt::wait_mark::woken);
  if (!was_notified && !c.withdraw(&mine)) {
    // The one who notifies has it in hand, and is a few instructions before its mark.
    while (!limit.word.has(rt::wait_mark::woken)) os::yield_cpu();
    was_notified = true;
  }
  if (mp != nullptr) sched::leave(mp);
  m.lock();
  return was_notified;
}

void condition_variable::notify_slow(bool all) noexcept {
  const sched::bracket inside;
  core_of(nwaiting_, waiters_).notify(all, sync::waker{inside.m()});
}

}  // namespace weft::inline v1
