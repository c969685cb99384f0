// miniature_scheduler.hpp: what src/sched does with a P, between real templates: run queue, lock, note, idle protocol.
//
// Each function is the one of the same name in src/sched, reduced to the steps that matter to [idle.no_lost_wake]: no timers, poller,
// stopped world, spawner or deferred wake-ups. There are as many Ms as Ps, so whoever finds no sleeping M leaves its P in `pstarting` for one
// that is about to sleep. A goroutine is run by being counted.
//
// An execution is over when all Ms sleep. Then nothing may be queued.
#pragma once

#include <cstdint>

#include "base/list.hpp"
#include "explorer/explore.hpp"
#include "os/lock.hpp"
#include "os/note.hpp"
#include "rt/idle_protocol.hpp"
#include "rt/run_queue.hpp"

namespace weft::model {

template <unsigned NProcs>
struct miniature_scheduler : rt::basic_idle_protocol<model_atomics> {
  static constexpr std::uint32_t kProcs = NProcs;
  static constexpr int kGoroutines = 4;

  struct G {
    plain<int> closure{0, "a goroutine's closure"};
    G* next = nullptr;
    int nruns = 0;
  };
  struct P {
    rt::basic_run_queue<model_atomics, G, 4> queue;
    base::list_link<P> link;
    bool wakes_spinning = false;
  };
  struct M {
    os::basic_note<model_atomics> park;
    base::list_link<M> link;
    P* p = nullptr;
    P* nextp = nullptr;  // L
    bool is_spinning = false;
  };
  using lock_type = os::basic_lock<model_atomics, os::lock_rank::scheduler>;
  using locked = os::lock_guard<lock_type>;

  lock_type lock;
  P procs[NProcs];
  M threads[NProcs];
  G goroutines[kGoroutines];
  base::linked_list<P, &P::link> pidle;      // L
  base::linked_list<P, &P::link> pstarting;  // L
  base::linked_list<M, &M::link> midle;      // L
  base::forward_queue<G, &G::next> global;   // L
  int nmade = 0;

  miniature_scheduler() {
    the_engine.label(static_cast<rt::basic_idle_protocol<model_atomics>*>(this),
                     sizeof(rt::basic_idle_protocol<model_atomics>), "idle protocol");
    the_engine.label(&lock, sizeof lock, "L");
    for (P& pp : procs)
      the_engine.label(&pp.queue, sizeof pp.queue, &pp == procs ? "P0's queue" : "other P's queue");
    for (M& mp : threads) the_engine.label(&mp.park, sizeof mp.park, "a note");
  }

  // --- how it begins, by nobody ---

  void begin_running(unsigned i) { threads[i].p = &procs[i]; }
  void begin_idle(unsigned i) {
    pidle.push_front(&procs[i]);
    publish_idle(pidle.size());
    midle.push_front(&threads[i]);
  }

  // --- submitting ---

  G* make() {
    G& g = goroutines[nmade++];
    g.closure.set(1);
    return &g;
  }

  // By a goroutine on mp.
  void go(M& mp) {
    if (G* const displaced = mp.p->queue.set_next(make())) mp.p->queue.push(displaced);
    wake_one();
  }
  // By a thread that is not ours.
  void submit() {
    G* const gp = make();
    M* woken = nullptr;
    {
      const locked l(lock);
      global.push_back(gp);
      publish_global(global.size());
      woken = wake_one_locked();
    }
    wake_m(woken);
  }

  P* take_idle_locked() {
    P* const pp = pidle.pop_front();
    if (pp != nullptr) publish_idle(pidle.size());
    return pp;
  }
  M* wake_one_locked() {
    P* const pp = begin_first_spinner([&] { return take_idle_locked(); });
    return pp != nullptr ? start_locked(pp, true) : nullptr;
  }
  M* start_locked(P* pp, bool is_spinning) {
    if (M* const mp = midle.pop_front()) {
      mp->nextp = pp;
      mp->is_spinning = is_spinning;
      return mp;
    }
    pp->wakes_spinning = is_spinning;
    pstarting.push_back(pp);
    return nullptr;
  }
  void wake_m(M* mp) {
    if (mp != nullptr) mp->park.wake();
  }
  void wake_one() {
    if (may_skip_wake()) return;
    M* woken = nullptr;
    {
      const locked l(lock);
      woken = wake_one_locked();
    }
    wake_m(woken);
  }

  // --- looking ---

  void start_spinning(M& mp) {
    mp.is_spinning = true;
    begin_spinning();
  }
  bool end_spinning(M& mp) {
    if (!mp.is_spinning) return false;
    mp.is_spinning = false;
    MODEL_CHECK(stop_spinning() > 0, "more stop spinning than began");
    return true;
  }
  G* take_global_locked() {
    G* const gp = global.pop_front();
    if (gp != nullptr) publish_global(global.size());
    return gp;
  }
  G* steal_work(M& mp) {
    for (P& victim : procs) {
      if (&victim == mp.p) continue;
      if (G* const gp = mp.p->queue.steal_into(victim.queue, true)) return gp;
    }
    return nullptr;
  }
  G* look_round(M& mp) {
    if (G* const gp = mp.p->queue.take_next()) return gp;
    if (G* const gp = mp.p->queue.pop()) return gp;
    if (has_global()) {
      const locked l(lock);
      if (G* const gp = take_global_locked()) return gp;
    }
    if (!mp.is_spinning && !may_begin_spinning(kProcs)) return nullptr;
    if (!mp.is_spinning) start_spinning(mp);
    return steal_work(mp);
  }
  bool drop_p(M& mp, G*& found) {
    const locked l(lock);
    if ((found = take_global_locked()) != nullptr) return false;
    if (!mp.is_spinning && must_spin_first()) {
      start_spinning(mp);
      return false;
    }
    pidle.push_front(std::exchange(mp.p, nullptr));
    publish_idle(pidle.size());
    return true;
  }
  bool regain_p(M& mp) {
    const locked l(lock);
    P* const pp = take_p_to_spin([&] { return take_idle_locked(); });
    if (pp == nullptr) return false;
    mp.p = pp;
    start_spinning(mp);
    return true;
  }
  bool anything_queued() const {
    return is_anything_queued(kProcs, [&](std::uint32_t i) { return procs[i].queue.is_empty(); });
  }
  void stop_m(M& mp) {
    {
      const locked l(lock);
      if (P* const pp = pstarting.pop_front()) {
        mp.p = pp;
        mp.is_spinning = pp->wakes_spinning;
        return;
      }
      midle.push_front(&mp);
    }
    while (mp.p == nullptr) {
      mp.park.sleep();
      const locked l(lock);
      mp.p = std::exchange(mp.nextp, nullptr);
    }
  }
  G* found(M& mp, G* gp) {
    if (end_spinning(mp)) wake_one();
    return gp;
  }
  G* find_runnable(M& mp) {
    for (;;) {
      G* gp = look_round(mp);
      if (gp != nullptr) return found(mp, gp);
      if (!drop_p(mp, gp)) {
        if (gp != nullptr) return found(mp, gp);
        continue;
      }
      if (look_once_more([&] { return end_spinning(mp); }, [&] { return anything_queued(); },
                         [&] { return regain_p(mp); }))
        continue;
      stop_m(mp);
    }
  }

  // sysmon, with a P that it took from one who was in a system call.
  void hand_off(P* pp) {
    M* woken = nullptr;
    bool is_wanted = false;
    {
      const locked l(lock);
      if (!pp->queue.is_empty() || has_global()) {
        woken = start_locked(pp, false);
      } else {
        pidle.push_front(pp);
        publish_idle(pidle.size());
        is_wanted = must_spin_first();
      }
    }
    wake_m(woken);
    if (is_wanted || (woken == nullptr && anything_queued())) wake_one();
  }

  // --- threads ---

  [[noreturn]] void schedule(M& mp) {
    for (;;) {
      G* const gp = find_runnable(mp);
      MODEL_CHECK(gp->closure.get() == 1, "what was written before go() is visible");
      MODEL_CHECK(gp->nruns++ == 0, "a goroutine runs twice");
    }
  }
  // Asleep from the beginning, in `midle`.
  void sleep_then_schedule(M& mp) {
    while (mp.p == nullptr) {
      mp.park.sleep();
      const locked l(lock);
      mp.p = std::exchange(mp.nextp, nullptr);
    }
    schedule(mp);
  }

  // --- when all sleep ---

  void expect_all_have_run() {
    for (int i = 0; i < nmade; ++i)
      MODEL_CHECK(goroutines[i].nruns == 1, "a goroutine is queued, and everybody sleeps");
    MODEL_CHECK(nspinning.load() == 0, "somebody spins in his sleep");
  }

  // The M of P0 computes on and does not come back to its queue. In a weak memory what it pushed into its ring may have been overlooked, and is
  // left to sysmon (src/sched/README.md, [idle.no_lost_wake] 4); nothing else may be.
  void expect_all_have_run_but_for_a_ring() {
    G* const overlooked = the_engine.has_weak_memory() ? procs[0].queue.pop() : nullptr;
    if (overlooked != nullptr) {
      MODEL_CHECK(!may_skip_wake(), "sysmon's wake-up is left out");
      ++overlooked->nruns;
    }
    expect_all_have_run();
  }
};

}  // namespace weft::model
