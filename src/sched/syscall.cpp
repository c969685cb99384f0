// syscall.cpp: blocking(f): the P may leave while the thread is away.
//
// Before f the P is marked `syscall` and the M goes out of the bracket, still owning it. If f is short, coming back is the ordinary way
// into the runtime: a store, a load, and the P is still there. If it is not, sysmon (or a stop of the world) takes the P by the
// detach handshake, and coming back is the slow way in: the old P if it is idle, any idle one, or a place in the queue.
// Whatever happens, the goroutine returns on the thread that ran f (unless f itself waited for something and went elsewhere).
//
// f may call weft. The goroutine keeps the status `syscall` (G::resume.nblocking) whenever it is back in f, so the P it came by on the way
// can be taken as well.
#include <cerrno>

#include <weft/go.hpp>
#include "sched/borrow.hpp"
#include "sched/entry.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"

namespace weft::sched {

namespace {

constexpr std::int64_t kRetakePatienceNs = 160 * os::kMicrosecond;
// One that blocks for long is now and then tried again: it may have changed.
constexpr std::uint32_t kTryShortEvery = 32;

void begin(M* mp, G* gp) noexcept {
  P* const pp = mp->proc();
  mp->oldp = pp;
  gp->become(g_status::syscall);
  base::add_by_owner(pp->syscalltick, 1);
  pp->become(p_status::syscall);
  // a hint: sysmon looks by itself, only later
  if (has_work(pp) || sched.nrunq.load(std::memory_order_relaxed) != 0)
    rouse_sysmon(kRetakePatienceNs);
}

void end(M* mp, G* gp) noexcept {
  mp->proc()->become(p_status::running);
  gp->become(g_status::running);
}

}  // namespace

}  // namespace weft::sched

namespace weft::inline v1::detail {

namespace s = weft::sched;

void begin_blocking() noexcept {
  rt::M* const before = s::current_m();
  if (before == nullptr) return;  // a plain thread blocks only itself
  // A slice that is over ends before f, since it must not end right after it; inside an outer f neither.
  if (before->detach.wants_attention() && before->curg()->resume.nblocking == 0)
    s::leave(s::enter());
  rt::M* const mp = s::current_m();
  rt::G* const gp = mp->curg();
  if (mp->detach.is_lost() && gp->resume.nblocking == 0 && s::begin_on_credit(mp)) return;
  s::enter();
  if (gp->resume.nblocking++ == 0) s::begin(mp, gp);
  // It was away for long last time, or the P is only borrowed: others need not wait until sysmon takes it.
  const bool is_lent = mp->is_borrowing.load(std::memory_order_relaxed);  // our own
  if (rt::kCanLoseP && (gp->has_manner(rt::G::kHabit | rt::G::kBlocksLong) || is_lent)) {
    if (mp->random.next() % s::kTryShortEvery == 0) gp->set_manner(rt::G::kBlocksLong, false);
    s::leave_p(mp);
  }
  mp->detach.leave();  // whoever wants our attention now can simply take the P
}

// No preemption point, and so no switch: the goroutine must come out on this thread, where errno is f's.
void end_blocking() noexcept {
  rt::M* const mp = s::current_m();
  if (mp == nullptr) return;
  const int saved = errno;
  rt::G* const gp = mp->curg();
  const bool has_p = mp->detach.enter(mp->needs_fence);
  if (has_p || gp->resume.nblocking > 1 || !s::end_on_credit(mp)) {
    if (!has_p) s::enter_slow(mp);
    if (--gp->resume.nblocking == 0) s::end(mp, gp);
  }
  mp->detach.leave();
  errno = saved;
}

}  // namespace weft::inline v1::detail
