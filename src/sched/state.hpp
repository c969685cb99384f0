// state.hpp: the scheduler's own state: what all Ms share.
//
// One lock, L (sched.lock), guards the lists; the counters beside them are atomic so that fast paths can look without it. L is a
// leaf but for the locks of the stack pool and the G slab, is held for well under a microsecond, and no foreign code runs under it.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/list.hpp"
#include "os/environment.hpp"
#include "os/lock.hpp"
#include "os/note.hpp"
#include "os/thread.hpp"
#include "rt/g.hpp"
#include "rt/idle_protocol.hpp"
#include "rt/m.hpp"
#include "rt/p.hpp"

namespace weft::sched {

using rt::G;
using rt::g_status;
using rt::M;
using rt::P;
using rt::p_status;
using rt::wait_reason;

inline constexpr unsigned kMaxProcs = 4096;
inline constexpr unsigned kDefaultMaxThreads = 10'000;
inline constexpr std::size_t kMainStackBytes = std::size_t{8} << 20;

// Requester ids for the detach handshake: sysmon, whoever stops the world (they are serialised), and each M.
inline constexpr std::uint32_t kSysmonRequest = rt::detach_word::kFirstRequester;
inline constexpr std::uint32_t kWorldRequest = kSysmonRequest + 1;
inline constexpr std::uint32_t kFirstMRequest = kWorldRequest + 1;  // and its M::id

inline constexpr std::uint64_t kMainGoid = 1;
// Plain threads have ids of their own, above those of any goroutine.
inline constexpr std::uint64_t kForeignIds = std::uint64_t{1} << 48;

enum class phase : std::uint32_t {
  stopped,   // no runtime
  starting,  // one is being made
  running,
  ending,  // no goroutine runs any more; threads are leaving
  forked,  // this process is a fork of one that had a runtime: nothing works
};

struct settings {
  os::debug_settings debug;
  unsigned max_threads = kDefaultMaxThreads;
  std::size_t stack_size = 0;
  // log2 of the slot of a goroutine that asks for no size; 0: the stack layer's default. Atomic: a plain thread may still be starting
  // a goroutine of the last runtime.
  std::atomic<std::uint8_t> stack_bits{0};
};

// npidle, nspinning, needs_spinning and nrunq are those of the protocol.
struct Sched : rt::idle_protocol {
  os::lock<os::lock_rank::scheduler> lock;  // L
  std::atomic<phase> now{phase::stopped};
  std::atomic<std::uint32_t> epoch{1};  // counts runtimes; Gs and Ms carry the one they belong to
  settings set;                         // written before the threads exist
  std::atomic<bool> needs_fence{
      false};  // no membarrier: entering the runtime needs a fence of its own
  std::atomic<bool> is_migrating{false};  // WEFT_DEBUG=migrate=1
  // --- chaos.hpp; all fixed before the threads exist ---
  std::atomic<std::uint32_t> chaos{0};     // kChaos...
  std::atomic<bool> is_chaotic{false};     // whoever becomes runnable goes a slower way
  std::atomic<bool> is_direct_off{false};  // every switch leads through g0
  std::atomic<bool> is_metered{false};     // WEFT_DEBUG=cputime=1: likewise, and is timed there
  std::atomic<bool> is_timeless{false};    // sysmon takes no P from who computes or sleeps

  // --- the global run queues (queues.cpp says in which order they are served) ---
  rt::g_queue runq;                       // L
  rt::g_queue urgent;                     // L: woken from outside while no P was idle
  rt::g_queue stopped;                    // L: stopped in the signal handler, each tied to its M
  std::atomic<std::uint32_t> nurgent{0};  // written under L
  std::uint32_t nserved = 0;              // L: to serve them in turn
  bool was_cap_said = false;              // sysmon's: that too many are stopped
  std::uint32_t nstopped_first = 0;       // L: so many of `stopped` come before anybody else

  // --- processors ---
  std::atomic<P*> allp[kMaxProcs]{};              // made once, kept for ever
  std::atomic<std::uint32_t> nprocs{0};           // in use; changed with the world stopped
  base::linked_list<P, &P::idle_link> pidle;      // L
  base::linked_list<P, &P::idle_link> pstarting;  // L: have work, wait for a new thread
  bool is_max_procs_fixed = false;  // L: set explicitly, so the machine's limit is not followed

  // --- threads ---
  base::linked_list<M, &M::idle_link> midle;  // L
  std::atomic<std::uint32_t> nmidle{0};       // written under L
  M* allm = nullptr;                          // L
  M* mfree = nullptr;                         // L: memory of Ms whose thread is gone
  std::uint32_t nm = 0;                       // L: threads that exist or are being made
  std::atomic<std::uint32_t> nthreads{0};     // the same, for stats(); written under L
  std::uint32_t nm_starting = 0;              // L: being made
  std::uint64_t next_mid = 1;                 // L
  os::signal_mask mask{};                     // of the program's own threads
  arch::fp_control fp{};                      // of the program when the runtime began

  base::linked_list<M, &M::lost_link> lost_awake;   // L
  base::linked_list<M, &M::lost_link> lost_asleep;  // L: as it seemed at the last look

  // --- timers (timers.cpp) ---
  M* watcher = nullptr;                               // L: sleeps until watch_until
  std::atomic<std::int64_t> watch_until{rt::kNever};  // written under L

  // --- descriptors (netpoll.cpp) ---
  // Sysmon's, as nobody has asked the kernel for a while: whoever comes by asks; or nobody does, so a thread sleeps in the poller
  // though no P is idle.
  std::atomic<bool> is_poll_due{false};
  std::atomic<bool> needs_poller{false};
  std::atomic<bool> is_poller_taken{false};  // a thread sleeps in the poller
  std::atomic<bool> is_asking{false};        // somebody asks in passing
  std::atomic<std::uint32_t> npolls{0};      // times the kernel was asked
  std::atomic<std::int32_t> nio_waiting{0};  // goroutines that wait for one

  // --- the signal ---
  std::atomic<int> preempt_signal{0};  // 0: none; goroutines are only asked, never stopped

  // --- helpers ---
  os::note sysmon_note;
  std::atomic<std::int64_t> sysmon_sleep_ns{
      0};  // how long a sleep it is in; whoever makes work for it wakes it
  std::atomic<std::int64_t> sysmon_wish_ns{0};  // how patient the last one who woke it was
  os::thread sysmon_thread;
  os::note spawner_note;
  os::thread spawner_thread;
  std::atomic<bool> is_quitting{false};  // tells both to end

  // --- stop the world (world.cpp) ---
  os::lock<os::lock_rank::world> world_lock;  // held over a stop by plain threads and the helpers
  std::atomic<bool> is_stopping{false};
  std::uint32_t nstopped = 0;  // L: Ps that are in
  os::note world_note;         // wakes the stopper

  // --- goroutines ---
  std::atomic<std::uint64_t> next_goid{1};
  std::atomic<std::uint64_t> nstarted{0};    // by threads without a P
  std::atomic<std::uint64_t> nabandoned{0};  // with earlier runtimes
  std::atomic<std::uint64_t> nforeign{0};    // plain threads that ever called in, for their ids
  std::atomic<std::int32_t> nforeign_waiting{
      0};  // plain threads that wait inside weft; for a moment too few, never too many
  bool is_main_on_caller = false;            // options::lock_main; fixed while running
  std::atomic<bool> has_main_exited{false};  // exit_goroutine() in the main goroutine
  std::atomic<std::int64_t> coarse_ns{0};    // the time, as of sysmon's last look

  // --- counters ---
  std::atomic<std::uint64_t> nwakeups{0};
  std::atomic<std::uint64_t> nhandoffs{0};
  std::atomic<std::uint64_t> nworld_stops{0};
  std::atomic<std::uint64_t> npreempted{0};    // slices ended against the goroutine's will
  std::atomic<std::uint64_t> nborrowed{0};     // Ps taken for a goroutine that had been woken
  std::atomic<std::uint64_t> nsignals{0};      // sent
  std::atomic<std::uint64_t> nunanswered{0};   // not handled within 5 ms
  std::atomic<std::uint64_t> ninterrupted{0};  // system calls of the program that ended with EINTR
  std::atomic<std::uint64_t> nthreads_created{0};
  std::atomic<std::uint64_t> nunconserved{0};  // wake-ups that were lost (conserve.hpp)
};

// Trivially destroyed: threads may still run when static destructors do.
[[gnu::visibility("hidden")]] extern constinit Sched sched;  // hidden: reached without the GOT

inline P* p_at(std::uint32_t i) noexcept {
  return sched.allp[i].load(std::memory_order_acquire);
}  // made before nprocs grew

class locked {  // holds L for a scope
 public:
  locked() noexcept { sched.lock.lock(); }
  ~locked() { sched.lock.unlock(); }
  locked(const locked&) = delete;
  locked& operator=(const locked&) = delete;
};

}  // namespace weft::sched
