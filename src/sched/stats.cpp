// stats.cpp: see stats.hpp; num_goroutines() and stats().
//
// Each P counts for itself, and one that has been retired keeps its counts, so the sums never fall. A goroutine is counted as ended
// on whatever P it ended, so `ended` is read first: a sum taken while they run is at worst too high.
//
// All relaxed: numbers, each right by itself, that guard nothing.
#include "sched/stats.hpp"

#include <weft/runtime.hpp>
#include "os/cpu_count.hpp"
#include "sched/entry.hpp"
#include "sched/netpoll.hpp"
#include "sched/state.hpp"

namespace weft::sched {

namespace {

// Relaxed, like all in this file: counts that guard nothing, each true of its own moment.
std::uint64_t sum(std::atomic<std::uint64_t> rt::p_counters::* which) noexcept {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < kMaxProcs; ++i) {
    const P* const pp = p_at(i);
    if (pp == nullptr) break;  // they are made in order
    total += (pp->counters.*which).load(std::memory_order_relaxed);
  }
  return total;
}

// Relaxed: as above.
std::uint64_t started() noexcept {
  return sum(&rt::p_counters::nstarted) + sched.nstarted.load(std::memory_order_relaxed);
}

}  // namespace

// Relaxed: as above.
std::size_t live_goroutines() noexcept {
  const std::uint64_t nended =
      sum(&rt::p_counters::nended) + sched.nabandoned.load(std::memory_order_relaxed);
  const std::uint64_t nstarted = started();
  return nstarted > nended ? static_cast<std::size_t>(nstarted - nended) : 0;
}

}  // namespace weft::sched

namespace weft::inline v1 {

// Relaxed: as above.
std::size_t num_goroutines() noexcept {
  using namespace weft::sched;
  return sched::sched.now.load(std::memory_order_relaxed) == phase::running ? live_goroutines() : 0;
}

unsigned num_cpu() noexcept { return os::online_cpus(); }

// Relaxed: as above.
unsigned max_procs() noexcept { return weft::sched::sched.nprocs.load(std::memory_order_relaxed); }

runtime_stats stats() noexcept {
  using namespace weft::sched;
  auto& state = weft::sched::sched;
  const stack::totals stacks = [] {
    const bracket inside;  // it takes a lock, and nobody may be stopped with that
    return stack::stats();
  }();
  // relaxed, all: as above
  runtime_stats s;
  s.max_procs = state.nprocs.load(std::memory_order_relaxed);
  s.idle_procs = state.npidle.load(std::memory_order_relaxed);
  s.idle_threads = state.nmidle.load(std::memory_order_relaxed);
  s.spinning_threads = state.nspinning.load(std::memory_order_relaxed);
  s.goroutines = num_goroutines();
  s.global_queue = state.nrunq.load(std::memory_order_relaxed);
  s.started = started();
  s.direct_switches = sum(&rt::p_counters::ndirect);
  s.switches = s.direct_switches + sum(&rt::p_counters::nthrough);
  s.steals = sum(&rt::p_counters::nsteals);
  s.wakeups = state.nwakeups.load(std::memory_order_relaxed);
  s.handoffs = state.nhandoffs.load(std::memory_order_relaxed);
  s.world_stops = state.nworld_stops.load(std::memory_order_relaxed);
  s.preemptions = state.npreempted.load(std::memory_order_relaxed);
  s.borrows = state.nborrowed.load(std::memory_order_relaxed);
  s.signals_sent = state.nsignals.load(std::memory_order_relaxed);
  s.signals_unanswered = state.nunanswered.load(std::memory_order_relaxed);
  s.interrupted_calls = state.ninterrupted.load(std::memory_order_relaxed);
  s.threads_created = state.nthreads_created.load(std::memory_order_relaxed);
  s.unconserved = state.nunconserved.load(std::memory_order_relaxed);
  s.threads = state.nthreads.load(std::memory_order_relaxed);
  s.stacks = stacks.ncarved;
  s.stack_guard = stacks.guard_kind;
  s.poller = poller_name();
  return s;
}

}  // namespace weft::inline v1
