// entry.cpp: the slow ways in and out of the runtime.
#include "sched/entry.hpp"

#include "sched/crash.hpp"
#include "sched/park.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/schedule.hpp"

namespace weft::sched {

namespace {

// An idle P at once, preferably the one we had. True: done.
bool take_p_locked(M* mp) noexcept {
  P* const pp = take_idle_locked(mp->oldp);
  if (pp == nullptr) return false;
  attach_locked(pp, mp);
  return true;
}

// The goroutine goes into the global queue, tied to this thread. Whoever finds it there gives us a P.
void queue_self_locked(M* mp, G* gp) noexcept {
  gp->bound_m = mp;
  gp->become(g_status::runnable);
  mp->waits = rt::m_wait::p;
  put_global_locked(gp);
}

}  // namespace

void enter_slow(M* mp) noexcept {
  die_if_forked();
  if (mp->detach.settle()) return;
  G* const gp = mp->curg();
  bool is_doomed;
  {
    locked l;
    if (!mp->detach.is_lost()) return;  // given back meanwhile
    mp->p.store(nullptr,
                std::memory_order_relaxed);  // our own; nobody requests from one that is LOST
    is_doomed = mp->is_doomed;
    if (!is_doomed) {
      if (take_p_locked(mp)) return;
      queue_self_locked(mp, gp);
    }
  }
  if (!is_doomed) {
    mp->park.sleep();
    locked l;
    is_doomed = mp->is_doomed;
    if (!is_doomed) attach_locked(std::exchange(mp->nextp, nullptr), mp);
  }
  if (is_doomed) abandon(mp);
  if (gp->nlocks == 0) gp->bound_m = nullptr;
  gp->become(g_status::running);
  if (gp->resume.nblocking != 0) gp->become(g_status::syscall);
}

void leave_slow() noexcept {
  M* mp;
  do {
    mp = enter();
    yield_through_g0(mp);
    mp = current_m();
  } while (mp->detach.leave());
}

}  // namespace weft::sched
