// spawner.cpp: the one thread that makes threads.
//
// pthread_create takes locks that are not ours (malloc's among them), and a new thread inherits from the one that makes it whatever
// that has done to itself. So no goroutine's thread ever makes another: a P that needs a thread waits in sched.pstarting,
// and the spawner, which never runs user code, makes one. It also keeps one idle thread in reserve, so that a hand-off
// seldom has to wait for it.
//
// Creation is prompt up to some threads per P, and throttled beyond: a burst of blocking calls must not make thousands of threads
// that are all idle a moment later.
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "os/vm.hpp"
#include "sched/chaos.hpp"
#include "sched/crash.hpp"
#include "sched/detach.hpp"
#include "sched/procs.hpp"
#include "sched/schedule.hpp"

#include <new>
#include <utility>

namespace weft::sched {

namespace {

constexpr std::uint32_t kPromptPerP = 4;
constexpr std::uint32_t kPromptAtLeast = 32;
constexpr std::int64_t kThrottleNs = 100 * os::kMicrosecond;
constexpr int kTries = 20;  // while the system says "not now"

// One more thread is wanted: for a P that waits, or as the spare.
bool is_thread_wanted_locked() noexcept {
  return sched.nm_starting < sched.pstarting.size() + (sched.midle.empty() ? 1 : 0);
}

[[noreturn]] void fatal_thread_limit() noexcept {
  os::text t;
  t << "weft: thread exhaustion: the program exceeds its limit of " << sched.set.max_threads
    << " threads (options::max_threads, WEFT_DEBUG=maxthreads=N); each blocking call holds one";
  fatal(t.view());
}

[[noreturn]] void fatal_no_thread(int error, std::uint32_t have) noexcept {
  os::text t;
  t << "weft: failed to create a new thread (have " << have << " already; errno=" << error
    << "); the limit of processes may be too low (ulimit -u), or memory";
  fatal(t.view());
}

bool is_quitting() noexcept { return sched.is_quitting.load(std::memory_order_relaxed); }  // a hint

void pause_ms(int ms) noexcept {
  os::note pause;
  pause.sleep(os::now_ns() + ms * os::kMillisecond);
}

// The memory of an M, counted. Null: no thread is wanted, or (a spare only) none may be made.
M* claim_m() noexcept {
  for (int i = 1;; ++i) {
    {
      locked l;
      if (!is_thread_wanted_locked()) return nullptr;
      const bool is_needed = sched.pstarting.size() > sched.nm_starting;  // and not only the spare
      if (sched.nm >= sched.set.max_threads) {
        if (is_needed) fatal_thread_limit();
        return nullptr;
      }
      if (M* const mp = new_m_locked()) {
        ++sched.nm_starting;
        return mp;
      }
      if (i == kTries && is_needed) fatal("weft: out of memory for a thread");
      if (i == kTries || is_quitting()) return nullptr;
    }
    pause_ms(i);
  }
}

// The handle goes to the M. A thread is let go by exactly one, and after L is released: pthread_detach frees the stack of a thread
// that is gone already, under locks that are not ours.
//
//    spawner                            the new thread
//    pthread_create                     runs, and is at its end
//    -- L --                            -- L --
//    is it gone?  no: M::thread = made  take M::thread (empty, if we are first); gone; M into mfree
//    -- --                              -- --
//    yes: detach `made`                 detach what was taken, if anything
//
// Whichever L comes first: the handle is with one of the two, never with both. Once the M is in mfree its memory may be another
// thread's, hence the copies and the id. At the end of a runtime the spawner is gone before threads are doomed, so every M has its
// handle: those that are joined keep it for join_all(), an orphan takes it out itself, here as any other.
void entrust(M* mp, std::uint64_t id, os::thread made) noexcept {
  {
    locked l;
    const bool is_gone = mp->is_gone || mp->id != id;  // it came and went while we were here
    if (!is_gone) {
      mp->thread = made;
      return;
    }
  }
  os::detach_thread(made);
}

void make_thread(M* mp) noexcept {
  const std::uint64_t id = mp->id;  // before the thread can be gone
  os::thread_result made{};
  for (int i = 0; i < kTries; ++i) {
    made = os::start_thread<&m_main>("weft", mp);
    if (made.error == 0 || is_quitting()) break;
    pause_ms(i + 1);
  }
  dawdle(window::thread_made);
  if (made.error == 0) {
    entrust(mp, id, made.made);
    sched.nthreads_created.fetch_add(1, std::memory_order_relaxed);  // only counted
    return;
  }
  locked l;
  --sched.nm_starting;
  const bool is_needed = !sched.pstarting.empty();
  free_m_locked(mp);
  if (is_needed) fatal_no_thread(made.error, sched.nm);  // else it was only the spare
}

std::uint32_t prompt_limit() noexcept {
  const std::uint32_t n = kPromptPerP * sched.nprocs.load(std::memory_order_relaxed);  // a hint
  return n < kPromptAtLeast ? kPromptAtLeast : n;
}

}  // namespace

M* new_m_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  M* mp = sched.mfree;
  if (mp != nullptr) {
    sched.mfree = mp->free_next;
    mp->recycle();
  } else {
    static_assert(sizeof(M) <= 4096);
    void* const memory = os::reserve(os::page_size(), os::page_size()).base;
    if (memory == nullptr) return nullptr;
    mp = ::new (memory) M;
  }
  mp->id = sched.next_mid++;
  mp->epoch = sched.epoch.load(std::memory_order_relaxed);  // written under L
  mp->random = base::rng(sched.set.debug.seed * 0x9E3779B9u + mp->id);
  mp->all_next = sched.allm;
  sched.allm = mp;
  sched.nthreads.store(++sched.nm, std::memory_order_relaxed);  // for stats()
  return mp;
}

void free_m_locked(M* mp) noexcept {
  unlist_lost_locked(mp);
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  if (mp->epoch == sched.epoch.load(std::memory_order_relaxed)) {  // written under L
    for (M** at = &sched.allm; *at != nullptr; at = &(*at)->all_next) {
      if (*at != mp) continue;
      *at = mp->all_next;
      sched.nthreads.store(--sched.nm, std::memory_order_relaxed);  // for stats()
      break;
    }
  }
  mp->is_gone = true;
  mp->free_next = sched.mfree;
  sched.mfree = mp;
}

void kick_spawner() noexcept { sched.spawner_note.wake(); }

// A thread's whole life.
void m_main(void* m) noexcept {
  M* const mp = static_cast<M*>(m);
  begin_thread(mp);
  dawdle(window::thread_begins);
  bool is_ours;
  {
    locked l;
    is_ours = !mp->is_doomed;
    if (is_ours) --sched.nm_starting;
  }
  os::set_signal_mask(sched.mask);
  if (is_ours) schedule(mp);
  end_thread(mp);
  os::thread self;
  {
    locked l;
    if (mp->is_doomed && !mp->is_orphan)
      return;  // whoever ends the runtime waits for us, and frees it
    self = std::exchange(mp->thread, {});
    free_m_locked(mp);
  }
  os::detach_thread(self);  // without L, and without the M: see entrust()
}

void spawner_main(void*) noexcept {
  while (!sched.is_quitting.load(std::memory_order_acquire)) {  // only a flag
    M* const mp = claim_m();
    if (mp == nullptr) {
      sched.spawner_note.sleep();
      continue;
    }
    make_thread(mp);
    bool is_over;
    {
      locked l;
      is_over = sched.nm > prompt_limit();
    }
    if (is_over) {
      os::note pause;
      pause.sleep(os::now_ns() + kThrottleNs);
    }
  }
}

}  // namespace weft::sched
