// park.cpp: see park.hpp; and commit_departure, the other half of every switch.
#include "sched/park.hpp"

#include "os/thread.hpp"
#include "sched/entry.hpp"
#include "sched/find_runnable.hpp"
#include "sched/foreign.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/start.hpp"
#include "sched/switch.hpp"

namespace weft::sched {

namespace {

// Away from the running goroutine, for whatever mp->commit says: straight to the next one, or to g0.
[[gnu::always_inline]] inline void depart(M* mp, G* self, G* next) noexcept {
  P* const pp = mp->proc();
  if (pp->status.load(std::memory_order_relaxed) != p_status::running) [[unlikely]] {
    pp->status.store(p_status::running, std::memory_order_relaxed);  // parked inside blocking(): the P is not
  }
  if (next == nullptr) {
    switch_to_g0(mp, self, false);
    return;
  }
  set_running(mp, pp, next);
  base::add_by_owner(pp->counters.ndirect, 1);
  switch_direct(mp, self, next, false);
}

// A locked goroutine keeps its thread, so the thread cannot go on with another one.
[[gnu::always_inline]] inline G* next_after(M* mp, G* self) noexcept {
  if (self->bound_m != nullptr || sched.set.debug.migrate) [[unlikely]] return nullptr;
  return pick_direct(mp, mp->proc());
}

void requeue(M* mp, G* gp) noexcept {
  gp->become(g_status::runnable);
  if (sched.set.debug.migrate) [[unlikely]] {
    put_global(gp);
  } else {
    put_local(mp->proc(), gp);
  }
}

void commit_end(M* mp, G* gp) noexcept {
  P* const pp = mp->proc();
  stack::head* const stack = std::exchange(gp->stack, nullptr);
  arch::destroy_fiber(std::launder(reinterpret_cast<rt::g_cold*>(stack->cold))->fiber);
  gp->become(g_status::dead);
  if (gp->nlocks != 0) {  // it ends locked and takes its thread with it
    mp->lockedg = nullptr;
    mp->is_leaving = true;
  }
  base::add_by_owner(pp->counters.nended, 1);
  free_g(pp, gp);
  pp->stacks.push(stack);
}

// The scavenger has this goroutine's stack in its hands for a moment: wait. Else: waiting -> runnable, and ours.
void claim_waiting(G* gp) noexcept {
  std::uint32_t seen = static_cast<std::uint32_t>(g_status::waiting);
  while (!gp->status_word.compare_exchange_weak(seen, static_cast<std::uint32_t>(g_status::runnable),
                                                std::memory_order_acq_rel, std::memory_order_relaxed)) {
    WEFT_CHECK((seen & ~rt::kTrimming) == static_cast<std::uint32_t>(g_status::waiting),
               "woke a goroutine that does not wait");
    if (seen & rt::kTrimming) os::yield_cpu();
    seen = static_cast<std::uint32_t>(g_status::waiting);
  }
}

}  // namespace

void commit_departure(M* mp) noexcept {
  const rt::commit_step step = mp->commit;
  switch (step.kind) {
    case rt::departure::none: return;
    case rt::departure::park:
      mp->commit.kind = rt::departure::none;
      step.gp->become(g_status::waiting);
      if (!step.publish(step.gp, step.arg)) ready(mp, step.gp);
      return;
    case rt::departure::yield:
      mp->commit.kind = rt::departure::none;
      requeue(mp, step.gp);
      return;
    case rt::departure::end:
      mp->commit.kind = rt::departure::none;
      commit_end(mp, step.gp);
      return;
  }
}

void park(publish_fn publish, void* arg, wait_reason why, const void* object) noexcept {
  M* mp = enter();
  if (mp == nullptr) {
    park_foreign(publish, arg, why);
    return;
  }
  G* const self = mp->curg;
  self->why = why;
  rt::g_cold& cold = self->cold();
  cold.waits_on = object;
  cold.waits_since_ns = sched.coarse_ns.load(std::memory_order_relaxed);
  cold.was_trimmed = false;
  mp->commit = {rt::departure::park, publish, arg, self};
  depart(mp, self, next_after(mp, self));
  self->why = wait_reason::none;
  leave(current_m());
}

void ready(M* mp, G* gp) noexcept {
  if (gp->is_proxy) {  // a plain thread outlives any runtime
    wake_foreign(gp);
    return;
  }
  if (gp->epoch != sched.epoch.load(std::memory_order_relaxed)) return;  // abandoned
  claim_waiting(gp);
  if (mp != nullptr && !sched.set.debug.migrate) [[likely]] {
    put_next(mp->proc(), gp);
  } else {
    put_global(gp);
  }
  wake_one();
}

void yield_inside(M* mp) noexcept {
  G* const self = mp->curg;
  G* const next = next_after(mp, self);
  if (next == nullptr && mp->proc()->picked == nullptr && !mp->detach.wants_attention() &&
      !sched.set.debug.migrate && !anything_queued()) {
    return;  // nobody else wants to run
  }
  mp->commit = {rt::departure::yield, nullptr, nullptr, self};
  depart(mp, self, next);
}

[[noreturn]] void end_goroutine() noexcept {
  M* const mp = enter();
  G* const self = mp->curg;
  mp->commit = {rt::departure::end, nullptr, nullptr, self};
  G* const next = next_after(mp, self);
  if (next != nullptr) {
    P* const pp = mp->proc();
    set_running(mp, pp, next);
    base::add_by_owner(pp->counters.ndirect, 1);
    switch_direct(mp, self, next, true);
  } else {
    switch_to_g0(mp, self, true);
  }
  __builtin_unreachable();  // nobody resumes what has ended
}

G* current_g() noexcept {
  M* const mp = current_m();
  return mp != nullptr ? mp->curg : foreign_g();
}

}  // namespace weft::sched
