// switch.hpp: from one goroutine to the next, with all that goes with it.
//
// Three kinds of stack take part: goroutines' and g0, the scheduling stack of an M. Going from goroutine to goroutine directly is
// the quick way; whatever may block, and whatever needs a look round, goes through g0.
//
// What must happen once the old stack is free (making a parked goroutine findable, queueing one that yields, freeing one that
// ended) is left in mp->commit and done by whoever runs next, first thing. Until then nobody else can get at the old
// goroutine, so no two Ms ever run one stack.  [switch.commit]
#pragma once

#include "arch/context.hpp"
#include "arch/sanitizer.hpp"
#include "sched/chaos.hpp"
#include "sched/current.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/state.hpp"

namespace weft::sched {

// On the new stack: sees to the goroutine that left.
void commit_departure_slow(M* mp) noexcept;
// The publishing step found that there is nothing to wait for.
void undo_park(M* mp, G* gp) noexcept;
[[gnu::always_inline]] inline void commit_departure(M* mp) noexcept {
  if (mp->commit.kind == rt::departure::park) {
    mp->commit.kind = rt::departure::none;
    G* const gp = mp->commit.gp;
    gp->become(g_status::waiting);
    if (!mp->commit.publish(gp, mp->commit.arg)) [[unlikely]]
      undo_park(mp, gp);
  } else if (mp->commit.kind == rt::departure::yield) {
    mp->commit.kind = rt::departure::none;
    G* const gp = mp->commit.gp;
    gp->become(g_status::runnable);
    P* const pp = mp->proc();
    put_local(pp, gp);
    // Two that take turns here must not leave another P idle. A hint is enough: they will yield again.
    if (!pp->is_alone && sched.npidle.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_one();
  } else if (mp->commit.kind != rt::departure::none) {
    commit_departure_slow(mp);
  }
}

// Out of line: few goroutines stop inside a catch block, or inside blocking().
void save_exceptions(M* mp, G* gp) noexcept;
void resume_specially(M* mp, G* gp) noexcept;

// Keeps what belongs to the goroutine and not to the thread. One that is locked to its thread comes back there, and may keep a std::mutex.
[[gnu::always_inline]] inline void save_thread_state(M* mp, G* gp) noexcept {
  if (arch::kKnowsLocks && gp->nlocks == 0) arch::give_thread_back(gp->cold().fiber);
  arch::save_fp_control(gp->fp);
  if (!mp->exceptions->is_clear()) [[unlikely]]
    save_exceptions(mp, gp);
}

// `now`: what the CPU's control words hold.
[[gnu::always_inline]] inline void restore_thread_state(M* mp, G* gp,
                                                        const arch::fp_control& now) noexcept {
  if (!(gp->fp == now)) [[unlikely]]
    arch::load_fp_control(gp->fp);
  if (!gp->resume.is_clear()) [[unlikely]]
    resume_specially(mp, gp);
}

// Marks gp as the one that runs on mp from now on. It is runnable, has a stack, and may run here.
[[gnu::always_inline]] inline void set_running(M* mp, G* gp) noexcept {
  gp->become(g_status::running);
  gp->m.store(mp, std::memory_order_relaxed);  // for those who look
  mp->set_curg(gp);
}

// What every goroutine does first after it was switched to. Returns the M it runs on now.
// With forced migration ThreadSanitizer hears of the thread that it has got, and reports who had a std::mutex meanwhile (arch/sanitizer.hpp).
[[gnu::always_inline]] inline M* arrive([[maybe_unused]] G* self) noexcept {
  arch::finish_switch(self->cold().fiber);
  if (arch::kKnowsLocks && sched.is_migrating.load(std::memory_order_relaxed))  // fixed at start
    arch::take_thread(self->cold().fiber);
  M* const mp = current_m();
  commit_departure(mp);
  return mp;
}

// From goroutine `from`, which leaves mp->commit behind, to goroutine `to`. Returns when `from` runs again, maybe on another M.
[[gnu::always_inline]] inline M* switch_direct(M* mp, G* from, G* to, bool from_ends) noexcept {
  save_thread_state(mp, from);
  restore_thread_state(mp, to, from->fp);
  arch::start_switch(from->cold().fiber, to->cold().fiber, from_ends);
  arch::switch_context(&from->context, &to->context);
  return arrive(from);
}

// From goroutine `from` to this M's g0.
[[gnu::always_inline]] inline M* switch_to_g0(M* mp, G* from, bool from_ends) noexcept {
  save_thread_state(mp, from);
  mp->fp = from->fp;
  mp->set_curg(nullptr);
  arch::start_switch(from->cold().fiber, mp->fiber, from_ends);
  arch::switch_context(&from->context, &mp->g0);
  return arrive(from);
}

// The CPU time of goroutine `to`, if it is asked for: then every switch leads through g0, so whoever comes back is the one that went. It has
// not been let go of yet, so its stack is still there and nobody else looks at it.
void begin_metering(M* mp) noexcept;
void end_metering(M* mp, G* gp) noexcept;
// Of gp, which runs on mp, our own: until now.
std::int64_t metered_ns(const M* mp, const G* gp) noexcept;

// From g0 to goroutine `to`. Returns on g0 when some goroutine comes back here.
template <bool IsSpecial>
[[gnu::always_inline]] inline void switch_from_g0(M* mp, G* to) noexcept {
  if constexpr (IsSpecial) begin_metering(mp);
  restore_thread_state(mp, to, mp->fp);
  arch::start_switch(mp->fiber, to->cold().fiber, false);
  arch::switch_context(&mp->g0, &to->context);
  arch::finish_switch(mp->fiber);
  if constexpr (IsSpecial) {
    end_metering(mp, to);
    dawdle(window::off_stack);
  }
  commit_departure(mp);  // the same M: g0 never leaves its thread
}

}  // namespace weft::sched
