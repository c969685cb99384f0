// deadlock.cpp: see deadlock.hpp.
//
// Nobody can ever run again when, under L: every P is idle, no queue has anything, every thread of weft sleeps, none is being made, and
// no other thread of the process is outside weft. A thread inside blocking(), or one whose P was taken while it ran user code,
// does not sleep in weft's sense (M::waits) and so keeps the alarm quiet, as does any thread that weft does not know. A thread
// that wakes a goroutine needs L for it, and is seen by the census until it has it.
#include "sched/deadlock.hpp"

#include "os/procfs.hpp"
#include "rt/g_slab.hpp"
#include "sched/crash.hpp"
#include "sched/netpoll.hpp"
#include "sched/procs.hpp"
#include "sched/stats.hpp"

namespace weft::sched {

namespace {

constexpr unsigned kHelpers = 2;  // sysmon and the spawner; the poller may have another

// Relaxed: is_stopping and nprocs change under L. An end that has just begun is asked for again in check_deadlock().
bool is_asleep_locked() noexcept {
  if (sched.now.load(std::memory_order_relaxed) != phase::running) return false;
  if (sched.is_stopping.load(std::memory_order_relaxed) || !sched.pstarting.empty() ||
      sched.nm_starting != 0)
    return false;
  if (sched.pidle.size() != sched.nprocs.load(std::memory_order_relaxed) || anything_queued())
    return false;
  for (std::uint32_t i = 0; i < sched.nprocs.load(std::memory_order_relaxed); ++i) {  // under L
    if (p_at(i)->timers.has_armed()) return false;
  }
  if (is_anybody_polled_for()) return false;  // the kernel may wake it
  for (const M* mp = sched.allm; mp != nullptr; mp = mp->all_next) {
    if (mp->waits == rt::m_wait::none || mp->waits == rt::m_wait::borrow) return false;
  }
  return true;
}

bool is_anybody_else_locked() noexcept {
  const os::thread_census census = os::count_threads();
  if (census.total == 0) return true;  // unknown
  const auto known = static_cast<std::int64_t>(sched.nm) + kHelpers + poller_threads() +
                     sched.nforeign_waiting.load(std::memory_order_seq_cst);
  return static_cast<std::int64_t>(census.total) - census.ignorable > known;
}

void print_one(G* gp, void*) {
  // relaxed, both: everybody sleeps, and went through L on the way; a plain thread that comes now is printed or is not
  const std::uint64_t goid = gp->goid.load(std::memory_order_relaxed);
  if (goid == 0) return;
  if (!gp->is_proxy() && gp->epoch != sched.epoch.load(std::memory_order_relaxed)) return;
  if (gp->is_proxy() && gp->status() != g_status::asleep) return;
  os::text t;
  describe(t, gp);
  t << " [" << (gp->why != wait_reason::none ? name_of(gp->why) : name_of(gp->status()))
    << "]:\n\t";
  if (gp->is_proxy()) {
    t << "a thread that is not a goroutine";
  } else {
    describe_origin(t, gp);
    if (gp->stack != nullptr && gp->cold().waits_on != nullptr) {
      t << ", waits on " << os::hex{reinterpret_cast<std::uintptr_t>(gp->cold().waits_on)};
    }
    if (gp->nlocks != 0) t << ", locked to its thread";
  }
  t << "\n\n";
  os::write_all(os::kStderr, t.view());
}

[[noreturn]] void report() noexcept {
  const bool is_nobody_left =  // relaxed: main gave its P back under L since
      sched.has_main_exited.load(std::memory_order_relaxed) && live_goroutines() == 0;
  const std::string_view message = is_nobody_left ? "no goroutines (main called Goexit) - deadlock!"
                                                  : "all goroutines are asleep - deadlock!";
  os::text t;
  t << "fatal error: " << message;
  // Somebody may be in the middle of a crash report and wait in his exception's what(): then this is how it ends.
  try_begin_crash();
  os::write_all(os::kStderr, t.view());
  os::write_all(os::kStderr, "\n\n");
  rt::for_each_g(&print_one, nullptr);
  end_crash(t.view());
}

}  // namespace

bool check_deadlock() noexcept {
  if (!sched.set.debug.deadlock) return false;
  {
    locked l;
    if (!is_asleep_locked() || is_anybody_else_locked()) return true;
    // If the runtime began to end meanwhile, the helpers may be gone already and the count was one short.
    if (sched.is_quitting.load(std::memory_order_seq_cst)) return true;
  }
  report();  // L is free: the report must not hang on it
}

}  // namespace weft::sched
