// world.cpp: see world.hpp.
//
// The stopper first makes it known (is_stopping), takes the idle Ps, then takes the others by the detach handshake: all requests, one
// barrier, all answers. An M inside the runtime cannot be detached; it is told to look (attention) and gives its P up itself on
// its way out or in find_runnable. So the rounds end as soon as every M has been outside, or in the scheduler, once.
#include "sched/world.hpp"

#include <algorithm>
#include <new>

#include "os/clock.hpp"
#include "os/membarrier.hpp"
#include "os/vm.hpp"
#include "rt/g_slab.hpp"
#include "sched/borrow.hpp"
#include "sched/chaos.hpp"
#include "sched/crash.hpp"
#include "sched/detach.hpp"
#include "sched/entry.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"

namespace weft::sched {

namespace {

constexpr std::int64_t kFirstWaitNs = 20 * os::kMicrosecond;
constexpr std::int64_t kLongestWaitNs = os::kMillisecond;

std::uint32_t procs() noexcept {
  return sched.nprocs.load(std::memory_order_relaxed);
}  // only changed by us, or under world_lock

// pp was v's, or kept for it.
void count_taken_locked(M* v, P* pp) noexcept {
  pp->lender = v;
  const G* const gp = v->curg();
  if (gp != nullptr && gp->status() == g_status::running && is_still_out_locked(v, pp))
    list_lost_locked(v, false);
  count_stopped_locked(pp);
}

void announce() noexcept {
  locked l;
  sched.nstopped = 0;
  sched.is_stopping.store(true, std::memory_order_seq_cst);
  while (P* const pp = take_idle_locked()) count_stopped_locked(pp);
  while (P* const pp = sched.pstarting.pop_front()) {
    if (std::exchange(pp->wakes_spinning, false)) sched.stop_spinning();
    count_stopped_locked(pp);
  }
  for (std::uint32_t i = 0; i < procs(); ++i) {
    P* const pp = p_at(i);
    if (M* const v = take_kept_locked(pp)) count_taken_locked(v, pp);
  }
}

bool all_in() noexcept {
  locked l;
  return sched.nstopped == procs();
}

void detach_round() noexcept {
  static M* asked[kMaxProcs];  // guarded by world_lock
  std::uint32_t nasked = 0;
  for (std::uint32_t i = 0; i < procs(); ++i) {
    M* const v = p_at(i)->m.load(std::memory_order_acquire);  // Ms are never unmapped
    if (v != nullptr && v->detach.request(kWorldRequest)) asked[nasked++] = v;
  }
  if (nasked == 0) return;
  dawdle(window::asked);
  os::heavy_barrier();
  dawdle(window::settling);
  for (std::uint32_t i = 0; i < nasked; ++i) {
    P* const pp = asked[i]->proc();  // read while the request stands
    if (!asked[i]->detach.request_settle(kWorldRequest, [pp] { return pp != nullptr; })) continue;
    locked l;
    pp->let_go();
    count_taken_locked(asked[i], pp);
  }
}

void retire_locked(P* pp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  drain_locked(pp);
  pp->stacks.drain();
  rt::put_free({std::exchange(pp->free_first, nullptr), std::exchange(pp->nfree, 0)});
  pp->lender = nullptr;
  if (!pp->timers.move_all_to(p_at(0)->timers)) fatal("weft: out of memory for timers");
}

bool is_doomed(const M* mp) noexcept {
  locked l;
  return mp->is_doomed;
}

}  // namespace

void count_stopped_locked(P* pp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  pp->become(p_status::stopped);
  if (++sched.nstopped == procs()) sched.world_note.wake();
}

void stop_world() noexcept {
  announce();
  dawdle(window::stopping);
  std::int64_t wait_ns = kFirstWaitNs;
  while (!all_in()) {
    detach_round();
    dawdle(window::stopping);
    if (all_in()) break;
    sched.world_note.sleep(os::now_ns() + wait_ns);
    wait_ns = std::min(2 * wait_ns, kLongestWaitNs);
  }
  sched.nworld_stops.fetch_add(1, std::memory_order_relaxed);  // only counted
}

void start_world() noexcept {
  M* woken = nullptr;
  {
    locked l;
    sched.is_stopping.store(false, std::memory_order_seq_cst);
    for (std::uint32_t i = 0; i < procs(); ++i) {
      P* const pp = p_at(i);
      pp->become(p_status::idle);
      M* const lender = std::exchange(pp->lender, nullptr);
      if (is_still_out_locked(lender, pp)) {
        // The lender computes, and nobody else can see what is in its hands: whoever was next is found in the queue.
        if (G* const gp = std::exchange(pp->picked, nullptr)) put_global_locked(gp);
        if (G* const gp = take_handy(pp)) put_global_locked(gp);
        attach_locked(pp, lender);
      } else if (has_work(pp)) {
        if (M* const mp = start_locked(pp, false)) mp->wake_next = std::exchange(woken, mp);
      } else {
        put_idle_locked(pp);
      }
    }
  }
  dawdle(window::starting);
  while (M* const mp = woken) {
    woken = mp->wake_next;  // before it runs
    wake_m(mp);
  }
  if (anything_queued()) wake_one();  // and it the next: the usual chain
  rouse_sysmon(kSysmonNapNs);
}

bool stop_for_world(M* mp) noexcept {
  end_spinning(mp);
  P* const pp = release_p(mp);
  mp->is_borrowing.store(false,
                         std::memory_order_relaxed);  // our own; the lender gets it at the end
  {
    locked l;
    WEFT_CHECK(sched.is_stopping.load(std::memory_order_relaxed),  // written under L
               "the stop cannot end without this P");
    count_stopped_locked(pp);
  }
  return stop_m(mp);
}

bool make_procs(unsigned n) noexcept {
  static_assert(sizeof(P) <= 4096);
  for (unsigned i = 0; i < n; ++i) {
    if (p_at(i) != nullptr) continue;
    void* const memory = os::reserve(os::page_size(), os::page_size()).base;
    if (memory == nullptr) return false;
    P* const pp = ::new (memory) P;
    pp->id = i;
    sched.allp[i].store(pp, std::memory_order_release);  // it is complete
  }
  return true;
}

void resize_stopped(unsigned n) noexcept {
  locked l;
  for (std::uint32_t i = n; i < procs(); ++i) retire_locked(p_at(i));
  for (std::uint32_t i = procs(); i < n; ++i) p_at(i)->timers.reopen();
  sched.nprocs.store(n, std::memory_order_seq_cst);
  mark_alone_locked();
}

void mark_alone_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  for (std::uint32_t i = 0; i < procs(); ++i) p_at(i)->is_alone = procs() == 1;
}

void follow_machine() noexcept {
  const bracket inside;  // nobody may be stopped with L in hand
  locked l;
  // relaxed: whoever comes to L after a runtime has ended sees at least `ending`
  if (sched.now.load(std::memory_order_relaxed) == phase::running) sched.is_max_procs_fixed = false;
}

unsigned resize(unsigned n, bool is_explicit) noexcept {
  M* const mp = enter();
  if (mp != nullptr) {  // a goroutine: without its P, or the stop would wait for itself
    mp->oldp = mp->proc();
    if (mp->curg()->resume.nblocking == 0) mp->curg()->become(g_status::syscall);
    leave_p(mp);
  }
  sched.world_lock.lock();
  // A runtime that ended while we waited for the lock has no world to stop; acquire: and the next one may be complete. Under
  // world_lock one that runs cannot end.
  const bool is_running = sched.now.load(std::memory_order_acquire) == phase::running &&
                          (mp == nullptr || !is_doomed(mp));
  unsigned before = is_running || mp != nullptr ? procs() : kNoRuntime;
  if (is_running) {
    locked l;
    if (is_explicit) {
      sched.is_max_procs_fixed = true;
    } else if (sched.is_max_procs_fixed) {
      n = before;
    }
  }
  if (is_running && n != before) {
    if (make_procs(n)) {
      stop_world();
      resize_stopped(n);
      start_world();
    } else {
      before = 0;
    }
  }
  sched.world_lock.unlock();
  if (mp != nullptr) {
    enter_slow(mp);
    G* const gp = mp->curg();
    if (gp->resume.nblocking == 0 && gp->status() == g_status::syscall)
      gp->become(g_status::running);
    leave(mp);
  }
  return before;
}

}  // namespace weft::sched
