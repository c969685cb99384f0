// park.cpp: see park.hpp; and commit_departure, the other half of every switch.
#include "sched/park.hpp"

#include "os/thread.hpp"
#include "sched/bubbles.hpp"
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/find_runnable.hpp"
#include "sched/foreign.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/start.hpp"
#include "sched/switch.hpp"
#include "sched/wake.hpp"

#include <weft/go.hpp>

namespace weft::sched {

namespace {

// From the running goroutine straight to the next one. What becomes of it is in mp->commit.
[[gnu::always_inline]] inline M* go_direct(M* mp, G* self, G* next, bool self_ends) noexcept {
  set_running(mp, next);
  return switch_direct(mp, self, next, self_ends);
}

// A locked goroutine keeps its thread, so the thread cannot go on with another one.
[[gnu::always_inline]] inline G* next_after(M* mp, G* self, bool by_yield = false) noexcept {
  if (self->bound_m != nullptr) [[unlikely]]
    return nullptr;
  return pick_direct(mp->proc(), by_yield);
}

// Those of a bubble leave another departure behind than others, found without a branch: both are chosen by G::place.
constexpr rt::departure in_bubble(rt::departure d) noexcept {
  return static_cast<rt::departure>(static_cast<std::uint8_t>(d) + 2);
}
static_assert(in_bubble(rt::departure::park) == rt::departure::park_in_bubble);
static_assert(in_bubble(rt::departure::end) == rt::departure::end_in_bubble);

[[gnu::always_inline]] inline rt::departure departure_of(const G* self, rt::departure d) noexcept {
  return self->place == G::kOrdinary ? d : in_bubble(d);
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

}  // namespace

void claim_waiting(G* gp) noexcept {
  gp->status_word.claim([] { os::yield_cpu(); });
}

void undo_park(M* mp, G* gp) noexcept { ready(mp, gp); }

void commit_departure_slow(M* mp) noexcept {
  const rt::commit_step step = mp->commit;
  mp->commit.kind = rt::departure::none;
  switch (step.kind) {
    case rt::departure::none:
    case rt::departure::yield:
    case rt::departure::park:
      break;  // in commit_departure()
    case rt::departure::yield_global:
      step.gp->become(g_status::runnable);
      put_global(step.gp);
      break;
    case rt::departure::yield_urgent: {
      step.gp->become(g_status::runnable);
      locked l;
      put_urgent_locked(step.gp);
      break;
    }
    case rt::departure::end:
      commit_end(mp, step.gp);
      break;
    case rt::departure::park_in_bubble:
      park_in_bubble(mp, step);
      break;
    case rt::departure::end_in_bubble: {
      const std::uint8_t number = step.gp->bubble();
      commit_end(mp, step.gp);
      end_in_bubble(mp, number);
      break;
    }
  }
}

M* park_inside(M* mp, publish_fn publish, void* arg, wait_reason why, const void* object,
               way how) noexcept {
  if (mp == nullptr) {
    park_foreign(publish, arg, why);
    return nullptr;
  }
  G* const self = mp->curg();
  self->why = why;
  rt::g_cold& cold = self->cold();
  cold.waits_on = object;
  cold.waits_since_ns = sched.coarse_ns.load(std::memory_order_relaxed);  // only a time
  mp->commit = {departure_of(self, rt::departure::park), publish, arg, self};
  G* const next = how == way::direct ? next_after(mp, self) : nullptr;
  mp = next != nullptr ? go_direct(mp, self, next, false) : switch_to_g0(mp, self, false);
  self->why = wait_reason::none;
  return mp;
}

void park(publish_fn publish, void* arg, wait_reason why, const void* object, way how) noexcept {
  M* const mp = park_inside(enter(), publish, arg, why, object, how);
  if (mp != nullptr) leave(mp);
}

void park_for_ever(wait_reason why) noexcept {
  const auto nobody = [](G*, void*) { return true; };
  for (;;) park(nobody, nullptr, why, nullptr);
}

namespace {

[[gnu::always_inline]] inline void ready_ordinary(M* mp, G* gp) noexcept {
  if (gp->epoch != sched.epoch.load(std::memory_order_relaxed)) return;  // as is_abandoned()
  if (mp == nullptr) die_if_forked();
  claim_waiting(gp);
  // relaxed: fixed before any thread was made
  if (mp != nullptr && !sched.is_chaotic.load(std::memory_order_relaxed)) [[likely]] {
    put_in_front(mp->proc(), gp);
    return;
  }
  if (mp == nullptr) {
    submit_woken(gp);
  } else {
    put_slowly(mp->proc(), gp);
  }
}

// Out of line, so that the way of the others needs no frame for it.
[[gnu::noinline]] void ready_special(M* mp, G* gp) noexcept {
  if (gp->is_proxy()) return wake_foreign(gp);  // a plain thread outlives any runtime
  if (is_abandoned(gp)) return;
  unblock(gp);
  ready_ordinary(mp, gp);
}

}  // namespace

void ready(M* mp, G* gp) noexcept {
  if (gp->place != G::kOrdinary) [[unlikely]]
    return ready_special(mp, gp);
  ready_ordinary(mp, gp);
}

void waking::add_in_front(G* gp) noexcept {
  __builtin_prefetch(gp, 1);
  __builtin_prefetch(&gp->goid);  // its epoch
  if (G* const asked_for = std::exchange(coming_[ncome_++ % kAhead], gp)) claim(asked_for);
}

void waking::claim(G* gp) noexcept {
  if (gp->place != G::kOrdinary) [[unlikely]] {
    if (gp->is_proxy()) return wake_foreign(gp);
    if (is_abandoned(gp)) return;
    unblock(gp);
  }
  if (gp->epoch != sched.epoch.load(std::memory_order_relaxed)) return;  // as is_abandoned()
  claim_waiting(gp);
  woken_.push_front(gp);
}

void waking::end() noexcept {
  for (std::size_t i = 0; i < kAhead; ++i)
    if (G* const gp = coming_[ncome_++ % kAhead]) claim(gp);
  if (woken_.size() > rt::run_queue::kSpill) {
    put_all_global(woken_);
    wake_one();
    return;
  }
  P* const pp = mp_->proc();
  while (G* const gp = woken_.pop_front()) put_in_front(pp, gp);
}

namespace {

// On a borrowed P only what is urgent may run: nobody else is made room for. One whose slice is over is not urgent any more.
M* yield_borrowing(M* mp, G* self) noexcept {
  const bool is_asked = mp->detach.wants_attention();
  if (!is_asked && sched.nurgent.load(std::memory_order_relaxed) == 0) return mp;  // a hint
  mp->commit.kind = is_asked ? rt::departure::yield_global : rt::departure::yield_urgent;
  mp->commit.gp = self;
  return switch_to_g0(mp, self, false);
}

// Nobody stands behind self on this P: somebody from one with more than its share, if one may go there directly. The ring they are moved into
// must be empty, and `picked` free for one that cannot be gone to directly: both are only the holder's to fill, so has_work() settles it. With
// forced migration and the like there is never a budget.
G* take_company(M* mp, G* self) noexcept {
  P* const pp = mp->proc();
  if (self->bound_m != nullptr || pp->direct_budget == 0 || mp->detach.wants_attention() ||
      has_work(pp))
    return nullptr;
  G* const gp = steal_surplus(mp);
  if (gp == nullptr) return nullptr;
  --pp->direct_budget;
  return can_go_direct(pp, gp) ? gp : nullptr;
}

// Nobody to go to directly: through g0, unless nobody else wants to run at all.
[[gnu::noinline]] M* yield_slow(M* mp, G* self) noexcept {
  const bool migrates = sched.is_migrating.load(std::memory_order_relaxed);  // fixed at start
  if (rt::kPreempts && !migrates && mp->is_borrowing.load(std::memory_order_relaxed))  // our own
    return yield_borrowing(mp, self);
  if (const P* const pp = mp->proc(); !migrates && pp->picked == nullptr && pp->handy == nullptr &&
                                      !mp->detach.wants_attention() && !anything_queued())
    return mp;
  G* const next = take_company(mp, self);
  mp->commit.kind = migrates ? rt::departure::yield_global : rt::departure::yield;
  mp->commit.gp = self;
  return next != nullptr ? go_direct(mp, self, next, false) : switch_to_g0(mp, self, false);
}

// The only P has no thieves, so who yields may stand in the ring before its stack is free.
[[gnu::always_inline]] inline M* yield_alone(M* mp, P* pp, G* self) noexcept {
  G* next = self;
  if (!pp->queue.rotate(next)) return yield_slow(mp, self);
  self->become(g_status::runnable);
  count_slice(pp);
  --pp->direct_budget;
  if (!can_go_direct(pp, next)) [[unlikely]]
    return switch_to_g0(mp, self, false);
  return go_direct(mp, self, next, false);
}

// Returns the M it runs on afterwards.
[[gnu::always_inline]] inline M* yield_inside(M* mp) noexcept {
  G* const self = mp->curg();
  P* const pp = mp->proc();
  if (pp->is_alone && !pp->queue.has_next() && pp->direct_budget != 0 && self->bound_m == nullptr)
    return yield_alone(mp, pp, self);
  G* const next = next_after(mp, self, true);
  if (next == nullptr) return yield_slow(mp, self);
  mp->commit.kind = rt::departure::yield;
  mp->commit.gp = self;
  return go_direct(mp, self, next, false);
}

}  // namespace

void yield_through_g0(M* mp) noexcept { yield_slow(mp, mp->curg()); }

void save_exceptions(M* mp, G* gp) noexcept {
  gp->cold().exceptions = *mp->exceptions;
  gp->resume.has_exceptions = true;
  *mp->exceptions = {};
}

void resume_specially(M* mp, G* gp) noexcept {
  if (gp->resume.has_exceptions) {
    *mp->exceptions = gp->cold().exceptions;
    gp->resume.has_exceptions = false;
  }
  if (gp->resume.nblocking != 0) gp->become(g_status::syscall);
}

[[noreturn]] void end_goroutine() noexcept {
  M* const mp = enter();
  G* const self = mp->curg();
  mp->commit = {departure_of(self, rt::departure::end), nullptr, nullptr, self};
  if (G* const next = next_after(mp, self)) {
    go_direct(mp, self, next, true);
  } else {
    switch_to_g0(mp, self, true);
  }
  __builtin_unreachable();  // nobody resumes what has ended
}

}  // namespace weft::sched

namespace weft::inline v1 {

// Here and not among the others in self.cpp, so that all of the way from goroutine to goroutine is one function.
void yield() noexcept {
  rt::M* const mp = sched::current_m();
  if (mp == nullptr) [[unlikely]] {
    os::yield_cpu();
  } else if (sched::enter_if_needed(mp)) [[likely]] {
    sched::leave(sched::yield_inside(mp));
  }
}

}  // namespace weft::inline v1

namespace weft::sched {

G* current_g() noexcept {
  M* const mp = current_m();
  return mp != nullptr ? mp->curg() : foreign_g();
}

}  // namespace weft::sched
