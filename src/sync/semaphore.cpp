// semaphore.cpp: weft::semaphore on semaphore_core.
#include <stdexcept>

#include "sched/crash.hpp"
#include "sync/semaphore_core.hpp"
#include "sync/waiting.hpp"

#include <weft/go.hpp>
#include <weft/semaphore.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::semaphore_core<os::futex_atomics, sched::waiter, sync::goroutines>;

core core_of(std::atomic<std::int64_t>& state, detail::waiters& w) noexcept {
  return {state, sync::lock_of(w), w.queue.first, w.queue.last};
}

struct waiting {
  core semaphore;
  core::record mine{};
};

bool enter(sched::waiter* w, void* arg) {
  auto* const me = static_cast<waiting*>(arg);
  me->mine.who = w;
  return me->semaphore.enter(&me->mine);
}

bool withdraw(sched::waiter*, void* arg) {
  auto* const me = static_cast<waiting*>(arg);
  return me->semaphore.withdraw(&me->mine, sync::waker{sched::current_m()});
}

std::int64_t checked_capacity(std::int64_t n) {
  if (n < 0 || n > semaphore::max())
    throw std::invalid_argument("weft::semaphore: a capacity below zero or above max()");
  return n;
}

}  // namespace

semaphore::semaphore(std::int64_t n) : state_(checked_capacity(n) * kOne), capacity_(n) {
  static_assert(kOne == core::kOne && kWaiting == core::kWaiting);
}

void semaphore::refuse(std::int64_t n) const {
  throw std::invalid_argument(n < 0 ? "weft::semaphore: acquire of less than nothing"
                                    : "weft::semaphore: acquire of more than there is in all");
}

bool semaphore::acquire_slow(std::int64_t n, std::int64_t deadline_ns) noexcept {
  if (deadline_ns <= sched::now_ns()) {
    yield();  // whoever asks in a loop lets others get on
    return take(n);
  }
  waiting me{core_of(state_, waiters_)};
  me.mine.wants = n;
  return sync::wait_until({&enter, &withdraw, &me}, deadline_ns, rt::wait_reason::semaphore_acquire,
                          this);
}

bool semaphore::acquire_revocably(std::int64_t n, void* revoker) noexcept {
  waiting me{core_of(state_, waiters_)};
  me.mine.wants = n;
  return sched::park_revocable({&enter, &withdraw, &me}, *static_cast<sched::revoker*>(revoker),
                               rt::wait_reason::semaphore_acquire, this);
}

void semaphore::release(std::int64_t n) noexcept {
  const sched::bracket inside;
  if (n < 0 || !core_of(state_, waiters_).release(n, capacity_, sync::waker{inside.m()}))
    sched::misuse("semaphore released more than held");
}

}  // namespace weft::inline v1
