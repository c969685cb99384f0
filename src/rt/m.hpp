// m.hpp: M, a thread that runs goroutines.
//
// Each M has its own scheduling stack, g0 (the thread's own), on which find_runnable and everything that may block runs.
// An M is LOST (detach.is_lost()) when its P was taken while it ran user code. Ms lie in type-stable memory: a wake-up may
// come after the thread has gone.
//
// Who may touch: fields marked L under the scheduler lock; the rest only the M itself, unless they are atomic.
#pragma once

#include <atomic>
#include <cstdint>

#include "arch/context.hpp"
#include "arch/exception_state.hpp"
#include "arch/sanitizer.hpp"
#include "base/list.hpp"
#include "base/rng.hpp"
#include "os/note.hpp"
#include "os/thread.hpp"
#include "os/thread_watch.hpp"
#include "rt/detach_word.hpp"

namespace weft::rt {

struct G;
struct P;

using detach_word = basic_detach_word<os::futex_atomics>;

// What is to be done with a goroutine once its stack is free: on the next stack, with the data copied here first.
enum class departure : std::uint8_t {
  none,
  park,   // becomes waiting, then publish() makes it findable; false: it must not sleep after all
  yield,  // goes to the end of this P's queue
  park_in_bubble,  // as park, and may leave its bubble quiet
  end,             // its stack and itself are free
  yield_global,    // goes to the global queue
  end_in_bubble,   // as end, and may leave its bubble quiet
  yield_urgent,    // goes behind what else is urgent
};
struct commit_step {
  departure kind = departure::none;
  bool (*publish)(G* gp, void* arg) = nullptr;
  void* arg = nullptr;
  G* gp = nullptr;
};

// Why the M sleeps on its note, for those who want to wake it.  L
enum class m_wait : std::uint8_t {
  none,
  idle,    // in the idle list
  watch,   // until the next timer is due: it is sched.watcher
  locked,  // its locked goroutine is not running
  p,       // its goroutine waits for a P, in a run queue
  borrow,  // awake, and at work to get one for itself: nobody may give it one
};

struct alignas(64) M {
  // --- every runtime call ---
  detach_word detach;
  bool needs_fence = false;          // sched.needs_fence, where a compare reaches it
  std::atomic<P*> p{nullptr};        // changes only inside the runtime, or by attach
  std::atomic<G*> running{nullptr};  // the goroutine it runs (curg); null on g0
  G* lockedg = nullptr;              // lock_os_thread
  commit_step commit;
  arch::exception_state* exceptions = nullptr;  // the thread's own words
  arch::context g0{};
  arch::fp_control fp{};  // what the CPU's control words hold while a goroutine does not run

  // --- scheduling ---
  std::atomic<bool> is_spinning{false};
  bool is_doomed = false;   // L: the runtime has ended; leave at the next chance
  bool is_orphan = false;   // L: doomed while it ran user code; nobody waits for its thread
  bool is_gone = false;     // L: the thread is at its end
  bool is_leaving = false;  // this thread ends when it is back on g0
  // own: what its CPU clock said when its goroutine went on, if that is asked for (WEFT_DEBUG=cputime=1)
  std::int64_t metered_since_ns = 0;
  std::int64_t left_ns = 0;          // own: when it left its P by habit; 0: it did not
  std::uint8_t nshort_absences = 0;  // own: times in a row that it came back at once
  bool is_on_credit = false;         // own: it came out of blocking() without a P
  bool is_tuned = false;             // own: for watching
  bool was_slice_over = false;       // L: it lost its P since it had had its slice
  bool is_pinned = false;            // L: it waits inside the signal handler, on top of user code
  bool must_borrow = false;          // L: woken to run what is urgent, and no P was idle
  bool owes_watch = false;           // own: a timer is due sooner than anybody wakes up for it
  bool is_timer_due = false;         // own: it was woken because one is
  bool is_firing = false;            // own: and nobody else need watch (sched/timers.hpp)
  bool has_polled = false;           // own: it has just made somebody urgent
  std::atomic<bool> is_borrowing{false};  // its P is lent to it (P::lender); own, a hint to others
  m_wait waits = m_wait::none;            // L
  P* nextp = nullptr;                     // L: the P it is woken with
  bool is_nextp_lent = false;             // L: and that P is borrowed
  P* oldp = nullptr;                      // the P it had before blocking() lost it
  os::note park;
  base::rng random;

  // --- identity ---
  std::uint64_t id = 0;
  std::uint32_t epoch = 0;
  std::atomic<int> tid{0};
  os::thread thread;
  base::list_link<M> idle_link;  // L
  base::list_link<M> lost_link;  // L: lost its P in user code, and has not come back
  M* all_next = nullptr;         // L: every M of this epoch
  M* free_next = nullptr;        // L: the memory, when the thread is gone
  M* wake_next = nullptr;        // in a list of those to be woken once L is free
  void* alternate_stack = nullptr;

  // --- the signal (preempt.cpp) ---
  std::atomic<bool> is_signalled{false};  // one is under way; at most one
  std::uint8_t nspared = 0;  // own: times it was not stopped since it was in the C library
  std::atomic<std::int64_t> computes_since_cpu{
      0};  // by its CPU clock, without a P; 0: not seen to. Sysmon's; 0 under L
  struct {
    os::thread_watch eye;
    std::int64_t signalled_ns = 0;
    // By its CPU clock:
    std::int64_t asleep_cpu = -1;  // when it was last seen asleep
    std::int64_t short_burst = 0;  // how long it computes between two sleeps, at least
    std::int64_t long_burst = 0;   // and at most; 0: unknown
    std::int64_t off_cpu = -1;     // when it was last seen to wait for a CPU
    std::int64_t nsleeps = -1;     // how often it had gone to sleep by then
    std::uint8_t noff_cpu = 0;     // looks that found it so, and its clock advanced
  } seen;                          // by sysmon, or whoever holds world_lock with sysmon gone

  [[no_unique_address]] arch::fiber fiber;

  // For a new thread. Not a constructor: a requester that still holds a stale pointer may look at the atomic fields.
  // Relaxed, all: the new thread gets the M under L.
  void recycle() noexcept {
    detach.reset();
    p.store(nullptr, std::memory_order_relaxed);
    tid.store(0, std::memory_order_relaxed);
    is_spinning.store(false, std::memory_order_relaxed);
    running.store(nullptr, std::memory_order_relaxed);
    lockedg = nullptr;
    commit = {};
    is_doomed = is_orphan = is_gone = is_leaving = is_pinned = is_on_credit = is_tuned =
        was_slice_over = false;
    is_nextp_lent = must_borrow = owes_watch = is_timer_due = is_firing = has_polled = false;
    is_borrowing.store(false, std::memory_order_relaxed);  // as above
    is_signalled.store(false, std::memory_order_relaxed);  // as above
    nspared = nshort_absences = 0;
    left_ns = metered_since_ns = 0;
    seen.asleep_cpu = seen.off_cpu = seen.nsleeps = -1;
    seen.short_burst = seen.long_burst = 0;
    seen.noff_cpu = 0;
    waits = m_wait::none;
    nextp = oldp = nullptr;
    thread = {};
    all_next = free_next = wake_next = nullptr;
    park.clear();
  }

  // Relaxed, both: its own writes; a requester may look, and finds out by its CAS whether it was current.
  G* curg() const noexcept { return running.load(std::memory_order_relaxed); }
  void set_curg(G* gp) noexcept { running.store(gp, std::memory_order_relaxed); }
  P* proc() const noexcept {
    return p.load(std::memory_order_relaxed);
  }  // our own, or the caller asks under a request
};

}  // namespace weft::rt
