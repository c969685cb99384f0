// runtime.cpp: the beginning and the end of a runtime: run(), class runtime, max_procs().
//
// Ending, in order:
//   1  phase `ending`: go() and spawn() throw from now on
//   2  sysmon and the spawner end: no new thread, no resize
//   3  the world is stopped and stays so: no goroutine has a P
//   4  the epoch moves on: whatever still refers to these goroutines (wait lists, late wake-ups) leaves them alone; plain threads that
//      wait for what only they could do are told (survivors.hpp)
//   5  every thread is doomed. Those that sleep in weft are woken, end, and are waited for. Those that run user code are
//      orphans: at their next call into weft they end. Nobody waits for them.
// Abandoned goroutines stay in memory, with their stacks.
#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <system_error>

#include <weft/error.hpp>
#include <weft/runtime.hpp>
#include "arch/shadow_stack.hpp"
#include "os/clock.hpp"
#include "os/cpu_count.hpp"
#include "os/membarrier.hpp"
#include "os/preempt_signal.hpp"
#include "os/restartable.hpp"
#include "os/text.hpp"
#include "rt/g_slab.hpp"
#include "sched/bubbles.hpp"
#include "sched/chaos.hpp"
#include "sched/crash.hpp"
#include "sched/detach.hpp"
#include "sched/entry.hpp"
#include "sched/foreign.hpp"
#include "sched/locals.hpp"
#include "sched/netpoll.hpp"
#include "sched/preempt.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/schedule.hpp"
#include "sched/start.hpp"
#include "sched/stats.hpp"
#include "sched/survivors.hpp"
#include "sched/sysmon.hpp"
#include "sched/world.hpp"
#include "stack/instrument.hpp"

namespace weft::sched {

namespace {

void stop_runtime() noexcept;

// --- beginning ---

void claim_phase() {
  die_if_forked();
  if (current_m() != nullptr) throw std::logic_error("weft::run: called inside a goroutine");
  phase stopped = phase::stopped;
  // acq_rel: what the last runtime left
  if (!sched.now.compare_exchange_strong(stopped, phase::starting, std::memory_order_acq_rel)) {
    throw std::logic_error("weft::run: a runtime is active already");
  }
}

void fail_start(const char* why) {
  sched.now.store(phase::stopped, std::memory_order_release);  // to who starts the next one
  throw std::runtime_error(why);
}

void check(const options& opts) {
  const auto reject = [](const char* why) {
    sched.now.store(phase::stopped, std::memory_order_release);  // to who starts the next one
    throw std::invalid_argument(why);
  };
  if (opts.max_procs > kMaxProcs) reject("weft: options::max_procs is larger than 4096");
  if (std::max(opts.stack_size, opts.main_stack_size) > stack::kMaxBytes) {
    reject("weft: options::stack_size is larger than 1 GiB");
  }
}

// Not a goroutine that may be stopped here and now: os/lock_rank.hpp. At a runtime's end nobody is: exit() in a goroutine may be what ends it.
[[maybe_unused]] bool is_inside_or_plain() noexcept {
  const M* const mp = current_m();
  return mp == nullptr || !rt::kCanLoseP || mp->detach.is_inside() ||
         sched.now.load(std::memory_order_relaxed) !=
             phase::running;  // only changed by who ends it
}

unsigned configure(const options& opts) {
  const os::environment env = os::read_environment(kMaxProcs);
  settings& set = sched.set;
  set.debug = env.debug;
  if (set.debug.seed == 0) set.debug.seed = static_cast<std::uint64_t>(os::now_ns());
  set.max_threads = opts.max_threads != 0        ? opts.max_threads
                    : env.debug.max_threads != 0 ? env.debug.max_threads
                                                 : kDefaultMaxThreads;
  set.stack_size = opts.stack_size != 0 ? opts.stack_size : env.debug.stack_size;
  // relaxed: before any thread that reads them is made
  sched.needs_fence.store(!os::init_membarrier(env.debug.membarrier), std::memory_order_relaxed);
  os::init_restartables(env.debug.membarrier);
  if constexpr (kWeftDebugChecks)
    os::may_hold_locks.store(&is_inside_or_plain, std::memory_order_release);  // what it reads
  start_chaos();
  unsigned n = opts.max_procs != 0 ? opts.max_procs : env.max_procs;
  sched.is_max_procs_fixed = n != 0;
  if (n == 0) n = std::min(os::default_procs(), kMaxProcs);
  return n;
}

// The stack layer keeps ready stacks of one size, that of the first runtime; another size is had one by one.
void choose_stack_size() noexcept {
  // Asked each time: whoever has large frames may have been loaded since, and the stack layer keeps to what it was told first.
  const std::size_t wanted =
      sched.set.stack_size != 0 ? sched.set.stack_size : stack::expected_bytes();
  stack::init(wanted, sched.set.debug.guard);
  sched.set.stack_bits.store(slot_bits_for(wanted),
                             std::memory_order_relaxed);  // each start reads it once
}

// All that the last runtime left behind but its goroutines, which are out of reach since the epoch changed. Relaxed: L, and `running`,
// which is stored with release when all is done.
void reset(std::uint64_t first_goid) noexcept {
  locked l;  // a plain thread may still be on its way to the old one
  sched.runq = {};
  sched.nrunq.store(0, std::memory_order_relaxed);
  sched.nspinning.store(0, std::memory_order_relaxed);
  sched.needs_spinning.store(false, std::memory_order_relaxed);
  sched.is_quitting.store(false, std::memory_order_relaxed);
  sched.has_main_exited.store(false, std::memory_order_relaxed);
  sched.next_goid.store(first_goid, std::memory_order_relaxed);
  sched.nio_waiting.store(0, std::memory_order_relaxed);
  sched.next_mid = 1;
  sched.nserved = 0;
  sched.was_cap_said = false;
  sched.coarse_ns.store(os::now_ns(), std::memory_order_relaxed);
}

// A signal that the program asked for must be usable; the default one need not be.
void start_preemption(const options& opts) {
  sched.preempt_signal.store(0, std::memory_order_relaxed);  // nobody runs yet
  if (sched.set.debug.async_preempt_off) return;
  const int wanted =
      opts.preempt_signal != 0 ? opts.preempt_signal : sched.set.debug.preempt_signal;
  const char* const why = install_preemption(wanted);
  if (why == nullptr) return;
  os::text t;
  t << "weft: cannot stop goroutines with signal "
    << (wanted != 0 ? wanted : os::default_preempt_signal()) << ": " << why;
  if (opts.preempt_signal != 0) {
    sched.now.store(phase::stopped, std::memory_order_release);  // to who starts the next one
    throw std::invalid_argument(std::string(t.view()));
  }
  t << "; goroutines that compute for long without a call into weft keep their processor\n";
  os::write_all(os::kStderr, t.view());
}

// The program's own wish counts.
os::poller_choice wanted_poller(const options& opts) noexcept {
  switch (opts.poller) {
    case poller_kind::epoll:
      return os::poller_choice::epoll;
    case poller_kind::uring:
      return os::poller_choice::uring;
    case poller_kind::automatic:
      break;
  }
  return sched.set.debug.poller;
}

void start_runtime(const options& opts, std::uint64_t first_goid) {
  claim_phase();
  check(opts);
  if (const char* const why = arch::explain_shadow_stack(arch::shadow_stack_of_thread()))
    fail_start(why);
  install_crash_handlers();
  const unsigned n = configure(opts);
  reset(first_goid);
  choose_stack_size();
  if (!make_procs(n)) fail_start("weft: no memory for the processors");
  sched.mask = os::current_signal_mask();
  start_preemption(opts);
  choose_poller(wanted_poller(opts));
  sched.fp = arch::current_fp_control();
  sched.is_main_on_caller = opts.lock_main;
  sched.nprocs.store(n, std::memory_order_seq_cst);
  {
    locked l;
    mark_alone_locked();
    for (unsigned i = n; i-- > 0;) {
      p_at(i)->become(rt::p_status::idle);
      put_idle_locked(p_at(i));
    }
  }
  const os::thread_result spawner = os::start_thread<&spawner_main>("weft-spawner", nullptr);
  const os::thread_result sysmon = spawner.error == 0
                                       ? os::start_thread<&sysmon_main>("weft-sysmon", nullptr)
                                       : os::thread_result{{}, spawner.error};
  sched.spawner_thread = spawner.made;
  sched.sysmon_thread = sysmon.made;
  sched.now.store(phase::running, std::memory_order_release);  // to require_running()
  if (sysmon.error != 0) {
    stop_runtime();
    throw std::system_error(sysmon.error, std::generic_category(),
                            "weft: cannot start the runtime's threads");
  }
}

// --- ending ---

void end_helpers() noexcept {
  sched.is_quitting.store(true, std::memory_order_release);  // only a flag
  sched.sysmon_note.wake();
  sched.spawner_note.wake();
  os::join_thread(sched.sysmon_thread);
  os::join_thread(sched.spawner_thread);
}

// Runs user code without a P: it has not come back, or is just about to.
// So does one that was stopped in the middle of it.
bool is_out(const M* mp) noexcept {
  return mp->is_pinned || (mp->detach.is_lost() && mp->waits == rt::m_wait::none);
}

// Returns those that are to be waited for. Relaxed: written under L, read by stats().
M* doom_all() noexcept {
  locked l;
  M* to_join = nullptr;
  for (M* mp = std::exchange(sched.allm, nullptr); mp != nullptr;) {
    M* const next = mp->all_next;
    mp->is_doomed = true;
    if (is_out(mp)) {
      mp->is_orphan = true;        // its thread lets itself go when it ends
      mp->detach.ask_attention();  // or it might go on without ever needing a P
      unlist_lost_locked(mp);
      if (mp->is_pinned) wake_m(mp);  // it runs on: it could hold malloc's lock
    } else {
      mp->all_next = to_join;
      to_join = mp;
      if (sched.midle.contains(mp)) sched.midle.remove(mp);
      wake_m(mp);
    }
    mp = next;
  }
  sched.nm = 0;
  sched.nthreads.store(0, std::memory_order_relaxed);
  sched.nmidle.store(0, std::memory_order_relaxed);
  sched.nm_starting = 0;
  sched.watcher = nullptr;
  sched.watch_until.store(rt::kNever, std::memory_order_relaxed);  // as said above
  return to_join;
}

void join_all(M* to_join) noexcept {
  while (to_join != nullptr) {
    M* const mp = to_join;
    to_join = mp->all_next;
    os::join_thread(mp->thread);
    locked l;
    mp->free_next = std::exchange(sched.mfree, mp);
  }
}

// No thread of this runtime is left. Relaxed: a plain thread reads these under L, or for stats().
void forget_work() noexcept {
  locked l;
  forget_bubbles();
  for (std::uint32_t i = 0; i < kMaxProcs && p_at(i) != nullptr; ++i) {
    P* const pp = p_at(i);
    pp->picked = nullptr;
    take_handy(pp);
    while (pp->queue.take_next() != nullptr) continue;
    while (pp->queue.pop() != nullptr) continue;
    pp->lender = nullptr;
    pp->next_goid = pp->last_goid = 0;
    pp->direct_budget = pp->counted_budget = pp->lent_budget = 0;
    pp->timers.clear();
    pp->timers.reopen();
    pp->stacks.drain();
    rt::put_free({std::exchange(pp->free_first, nullptr), std::exchange(pp->nfree, 0)});
  }
  sched.runq = {};
  sched.urgent = {};
  sched.stopped = {};
  sched.nurgent.store(0, std::memory_order_relaxed);  // nobody runs
  sched.nstopped_first = 0;
  sched.nprocs.store(0, std::memory_order_relaxed);
  sched.npidle.store(0, std::memory_order_relaxed);
  sched.is_stopping.store(false, std::memory_order_relaxed);
}

void abandon_goroutines() noexcept {
  locked l;
  sched.nabandoned.fetch_add(live_goroutines(), std::memory_order_relaxed);  // only counted
  sched.epoch.fetch_add(1, std::memory_order_seq_cst);                       // [epoch.end]
}

void stop_runtime() noexcept {
  if (is_forked()) return;                                    // nothing of it is here
  sched.now.store(phase::ending, std::memory_order_release);  // 1
  end_helpers();                                              // 2
  sched.world_lock.lock();
  stop_world();          // 3
  abandon_goroutines();  // 4
  wake_survivors();
  join_all(doom_all());  // 5
  forget_work();
  sched.world_lock.unlock();
  sched.now.store(phase::stopped, std::memory_order_release);  // to who starts the next one
}

// --- the main goroutine ---

struct main_state {
  weft::detail::main_call* call;
  G* waiter =
      nullptr;  // the proxy of the thread in run(), unless that thread itself runs the main goroutine
};

void main_entry(void* closure) {
  main_state* const state = *static_cast<main_state**>(closure);
  state->call->invoke(state->call);
  end_locals(current_m()->curg());  // before run() goes on
  if (state->waiter == nullptr) return;
  bracket inside;
  ready(inside.m(), state->waiter);
}

G* new_main(const options& opts, main_state* state) {
  G* const gp = new_g(nullptr);
  if (gp == nullptr) return nullptr;
  const std::size_t least =
      std::max({kMainStackBytes, stack::default_bytes(), sched.set.stack_size});
  gp->stack_bits = slot_bits_for(opts.main_stack_size != 0 ? opts.main_stack_size : least);
  gp->entry = &main_entry;
  *reinterpret_cast<main_state**>(gp->closure) = state;
  return gp;
}

// As if the thread in run() waited for an event that main's return sets.
bool launch_main(G*, void* main) {
  launch(nullptr, static_cast<G*>(main));
  return true;
}

// Nobody ever wakes it.
bool sleep_for_ever(G*, void*) { return true; }

// This thread becomes an M that runs the main goroutine and nothing else. False: no memory for it.
bool run_main_here(G* main) {
  M* mp;
  {
    locked l;
    mp = new_m_locked();
  }
  if (mp == nullptr) return false;
  // run() may have been called in a catch block: that exception is the thread's, not the main goroutine's.
  const arch::exception_state before = std::exchange(*arch::thread_exception_state(), {});
  begin_thread(mp);
  main->bound_m = mp;
  main->nlocks = 1;
  mp->lockedg = main;
  launch(nullptr, main);
  schedule(mp);
  end_thread(mp);
  *arch::thread_exception_state() = before;
  {
    locked l;
    free_m_locked(mp);
  }
  // relaxed: the main goroutine wrote it on this thread
  if (sched.has_main_exited.load(std::memory_order_relaxed)) {  // the others run on without it
    park_foreign(&sleep_for_ever, nullptr, wait_reason::main_goroutine);
  }
  return true;
}

unsigned resize_or_throw(const char* what, unsigned n, bool is_explicit) {
  const unsigned before = resize(n, is_explicit);
  if (before == 0) throw std::bad_alloc();
  if (before == kNoRuntime) throw not_running(what);
  return before;
}

}  // namespace

}  // namespace weft::sched

namespace weft::inline v1 {

namespace s = weft::sched;

void detail::run_main(const options& opts, main_call* call) {
  s::start_runtime(opts, s::kMainGoid);
  s::main_state state{call};
  rt::G* const main = s::new_main(opts, &state);
  if (main == nullptr) {
    s::stop_runtime();
    throw std::bad_alloc();
  }
  if (opts.lock_main) {
    if (!s::run_main_here(main)) {
      s::stop_runtime();
      throw std::bad_alloc();
    }
  } else {
    state.waiter = s::foreign_g();
    s::park_foreign(&s::launch_main, main, rt::wait_reason::main_goroutine);
  }
  s::stop_runtime();
}

runtime::runtime(const options& opts) { s::start_runtime(opts, s::kMainGoid + 1); }

runtime::~runtime() { s::stop_runtime(); }

unsigned max_procs(unsigned n) {
  if (n == 0) return max_procs();
  if (n > s::kMaxProcs) throw std::invalid_argument("weft::max_procs: more than 4096 processors");
  s::require_running("weft::max_procs");
  return s::resize_or_throw("weft::max_procs", n, true);
}

unsigned default_max_procs() {
  s::require_running("weft::default_max_procs");
  const unsigned n = std::min(os::default_procs(), s::kMaxProcs);
  s::follow_machine();
  s::resize_or_throw("weft::default_max_procs", n, false);
  return n;
}

}  // namespace weft::inline v1
