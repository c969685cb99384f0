// waiting.hpp: what the synchronisation objects share when they park: the queue with goroutines in it, and a wait with or without a limit.
#pragma once

#include <cstdint>

#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/lock.hpp"
#include "rt/timer_heap.hpp"
#include "sched/bubbles.hpp"
#include "sched/current.hpp"
#include "sched/entry.hpp"
#include "sched/park_until.hpp"
#include "sync/wait_record.hpp"

#include <weft/detail/waiters.hpp>

namespace weft::sync {

struct goroutines {
  static bool is_gone(const sched::waiter* w) noexcept { return sched::is_abandoned(w->gp); }
  // Which runtime this is.
  static std::uint32_t epoch() noexcept {
    return sched::sched.epoch.load(std::memory_order_relaxed);  // changes while no goroutine runs
  }
};

// The header shows only a word: the lock's type is the library's.
using queue_lock = os::lock<os::lock_rank::waiters>;
inline queue_lock& lock_of(std::atomic<std::uint32_t>& word) noexcept {
  static_assert(sizeof(queue_lock) == sizeof word &&
                alignof(queue_lock) == alignof(std::atomic<std::uint32_t>));
  return reinterpret_cast<queue_lock&>(word);
}
inline queue_lock& lock_of(detail::waiters& w) noexcept { return lock_of(w.lock); }

// A goroutine that waits is in no queue, so it is in such a list by its own link: whoever takes a long list walks over Gs, which lie side by
// side, and not over stacks, each a page that nobody has touched for long. (A plain thread's proxy likewise.)
template <>
struct wait_links<rt::G> {
  using record = rt::G;
  static rt::G*& next(rt::G* gp) noexcept { return gp->link; }
  static rt::G* owner(rt::G* gp) noexcept { return gp; }
};

// Parks in the list that push(G*) enters it into. False from push: there is no need to wait. From user context, any thread.
template <class Push>
void park_in_list(Push push, rt::wait_reason why, const void* object) noexcept {
  const auto publish = [](rt::G* gp, void* arg) { return (*static_cast<Push*>(arg))(gp); };
  sched::park(publish, &push, why, object);
}

// As sched::park_until(), also without a limit (rt::kNever): then it is always true. From user context, any thread.
inline bool wait_until(const sched::wait_list& list, std::int64_t deadline_ns, rt::wait_reason why,
                       const void* object) noexcept {
  if (deadline_ns != rt::kNever) return sched::park_until(list, deadline_ns, why, object);
  struct patient {
    const sched::wait_list& list;
    sched::waiter who{};
  } p{list};
  const auto publish = [](rt::G* gp, void* arg) {
    auto* const mine = static_cast<patient*>(arg);
    mine->who.gp = gp;
    return mine->list.enter(&mine->who, mine->list.arg);
  };
  sched::park(publish, &p, why, object);
  return true;
}

// What a protocol calls to wake somebody. Made inside the bracket.
struct waker {
  rt::M* mp;
  void operator()(sched::waiter* w) const noexcept { sched::end_wait(mp, w); }
  void operator()(rt::G* gp) const noexcept { sched::ready(mp, gp); }
  // All of a list, the newest first. False: none, and they must be woken one by one, if there is anybody.
  bool take_all(rt::G* newest) const noexcept {
    if (newest == nullptr || newest->link == nullptr || !sched::waking::is_for(mp)) return false;
    sched::waking all(mp);
    while (newest != nullptr) {
      rt::G* const older = newest->link;  // before it is in another list
      all.add_in_front(newest);
      newest = older;
    }
    all.end();
    return true;
  }
};

}  // namespace weft::sync
