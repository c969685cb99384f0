// p.hpp: P, the right to run goroutines, and what goes with it: a run queue, free goroutines, free stacks, counters.
//
// There are max_procs of them. Whoever holds a P (P::m, or a requester that has just detached it) owns all that is not
// atomic in it; ownership moves by [detach.leave]/[detach.attach] or under the scheduler lock.  [p.handoff]
#pragma once

#include <atomic>
#include <cstdint>

#include "base/atomics.hpp"
#include "base/check.hpp"
#include "base/list.hpp"
#include "os/futex.hpp"
#include "rt/g.hpp"
#include "rt/run_queue.hpp"
#include "rt/status.hpp"
#include "rt/timer_heap.hpp"
#include "stack/stack.hpp"

namespace weft::rt {

using run_queue = basic_run_queue<os::futex_atomics, G>;

// One writer each (the holder), read by stats().
struct p_counters {
  std::atomic<std::uint64_t> nstarted{0};
  std::atomic<std::uint64_t> nended{0};
  std::atomic<std::uint64_t> ndirect{0};   // goroutines resumed straight from another
  std::atomic<std::uint64_t> nthrough{0};  // and through g0
  std::atomic<std::uint64_t> nsteals{0};
};

struct alignas(64) P {
  std::uint32_t id = 0;
  std::atomic<p_status> status{p_status::stopped};
  std::atomic<M*> m{nullptr};
  bool is_alone = false;  // the only P; changes while the world is stopped

  std::atomic<std::uint32_t> schedtick{0};    // goroutines begun with a fresh slice
  std::atomic<std::uint32_t> syscalltick{0};  // blocking() calls begun
  std::uint32_t direct_budget = 0;   // direct switches left before the scheduler must look round
  std::uint32_t counted_budget = 0;  // what it was when the direct switches were last added up
  std::uint32_t lent_budget = 0;     // L: what direct_budget was when it was lent, if it is
  G* picked = nullptr;               // taken from a queue already, and to be run next
  G* handy = nullptr;                // the front, where nobody was woken for it (sched/wake.hpp)
  std::int32_t defer_trust = 0;      // how well deferring wake-ups has worked here (sched/wake.hpp)
  std::atomic<std::uint32_t> deferral{0};    // odd: there is a handy one, for those who look
  std::atomic<bool> was_defer_wrong{false};  // a front was taken by sysmon or a thief

  G* free_first = nullptr;  // free goroutines
  std::uint32_t nfree = 0;
  std::uint64_t next_goid = 0;  // ids are taken from the scheduler in batches
  std::uint64_t last_goid = 0;
  stack::cache stacks;

  p_counters counters;

  base::list_link<P> idle_link;  // L
  bool wakes_spinning = false;   // L: waits for a new thread, which shall spin
  bool was_theirs = false;       // L: handed to one that was stopped, before its own queue
  M* lender =
      nullptr;  // L: from whom it was taken for a while: a stop of the world, or to be borrowed
  std::atomic<bool> is_kept{
      false};  // L: nobody uses it, and m, which is LOST, has it for the asking; else a hint

  // What sysmon saw last.
  struct {
    std::uint32_t schedtick = 0;
    std::uint32_t syscalltick = 0;
    std::uint32_t deferral = 0;
    std::int64_t sched_since_ns = 0;
    std::int64_t syscall_since_ns = 0;
    std::int64_t deferral_since_ns = 0;
    bool was_asked = false;      // to end its slice
    std::int64_t asked_cpu = 0;  // and what its thread's CPU clock said then
  } seen;

  run_queue queue;
  timer_heap timers;

  // By whoever has it. Relaxed: for those who look.
  void become(p_status next) noexcept {
    WEFT_CHECK(may_become(status.load(std::memory_order_relaxed), next),
               "no such step in a processor's life");
    status.store(next, std::memory_order_relaxed);
  }

  // Its M has it no more, and the caller has. Relaxed: others read both as a hint, or under L, under which it goes on.
  void let_go() noexcept {
    m.store(nullptr, std::memory_order_relaxed);
    become(p_status::idle);
  }
};

}  // namespace weft::rt
