// queues.cpp: see queues.hpp.
//
// The global queue is three. `urgent` holds goroutines that were woken from outside (a timer, a thread that is not ours, the end of a
// blocking call) when no P was idle; `stopped` those that a signal stopped, each tied to its thread; `runq` all others. They
// are served so that none can starve another: urgent ones first but for every eighth time, and the other two in turn. While many
// are stopped, new ones wait longer, since each one that is stopped holds a thread. When a thread went to sleep with its P, all
// that are stopped come first: one of them may hold the lock that is waited for.
#include "sched/queues.hpp"

#include <algorithm>

#include "sched/borrow.hpp"
#include "sched/chaos.hpp"
#include "sched/current.hpp"
#include "sched/procs.hpp"
#include "sched/wake.hpp"

namespace weft::sched {

namespace {

constexpr std::uint32_t kUrgentTurns = 8;
constexpr std::uint32_t kStoppedPerP = 4;  // more than this many stopped: start new ones sparingly
constexpr std::uint32_t kSparingly = 16;

void publish_size_locked() noexcept {
  const std::size_t n = sched.runq.size() + sched.urgent.size() + sched.stopped.size();
  // relaxed: written under L; else a hint
  sched.nurgent.store(static_cast<std::uint32_t>(sched.urgent.size()), std::memory_order_relaxed);
  sched.publish_global(n);  // a submitter's or an idler's half of [idle.no_lost_wake]
}

bool is_stopped_next_locked() noexcept {
  if (sched.stopped.empty()) return false;
  if (sched.runq.empty()) return true;
  const bool is_crowded =
      sched.stopped.size() > kStoppedPerP * sched.nprocs.load(std::memory_order_relaxed);  // a hint
  return sched.nserved % (is_crowded ? kSparingly : 2) != 0;
}

// Every eighth turn is the others', or new sleepers could keep them waiting for ever.
bool are_stopped_first_locked() noexcept {
  return sched.nstopped_first != 0 && sched.nserved % kUrgentTurns != 0;
}

G* pop_locked() noexcept {
  ++sched.nserved;
  if (are_stopped_first_locked()) {
    --sched.nstopped_first;
    if (G* const gp = sched.stopped.pop_front()) return gp;
    sched.nstopped_first = 0;
  }
  const bool is_urgent_next = sched.nserved % kUrgentTurns != 0;
  if (is_urgent_next && !sched.urgent.empty()) return sched.urgent.pop_front();
  if (is_stopped_next_locked()) return sched.stopped.pop_front();
  if (!sched.runq.empty()) return sched.runq.pop_front();
  return sched.urgent.pop_front();
}

// The older half of the ring, unless a thief made room.
void spill(P* pp) noexcept {
  G* half[rt::run_queue::kSpill];
  if (!pp->queue.spill_half(half)) return;
  rt::g_queue batch;  // linked up before L is taken
  for (G* each : half) batch.push_back(each);
  put_all_global(batch);
}

}  // namespace

void put_local_slow(P* pp, G* gp) noexcept {
  do {
    spill(pp);
  } while (!pp->queue.push(gp));
}

void put_slowly(P* pp, G* gp) noexcept {
  if (sched.is_migrating.load(std::memory_order_relaxed)) return submit(gp);  // fixed at start
  put_in_front(pp, gp, []() noexcept {
    dawdle(window::queued);
    wake_one_slowly();
  });
}

void put_global_locked(G* gp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  sched.runq.push_back(gp);
  publish_size_locked();
}

void put_global(G* gp) noexcept {
  locked l;
  put_global_locked(gp);
}

void put_all_global(rt::g_queue& gs) noexcept {
  locked l;
  sched.runq.splice_back(gs);
  publish_size_locked();
}

void put_urgent_locked(G* gp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  sched.urgent.push_back(gp);
  publish_size_locked();
}

void put_stopped_locked(G* gp, bool at_front) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  if (at_front) {
    sched.stopped.push_front(gp);
  } else {
    sched.stopped.push_back(gp);
  }
  publish_size_locked();
}

G* take_urgent() noexcept {
  if (sched.nurgent.load(std::memory_order_relaxed) == 0)
    return nullptr;  // whoever adds one asks for us
  locked l;
  G* const gp = sched.urgent.pop_front();
  if (gp != nullptr) publish_size_locked();
  return gp;
}

G* take_stopped_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  if (sched.stopped.empty()) return nullptr;
  ++sched.nserved;
  if (are_stopped_first_locked()) {
    --sched.nstopped_first;
  } else if (!sched.urgent.empty() || !is_stopped_next_locked()) {
    --sched.nserved;  // whoever comes instead decides on the same turn
    return nullptr;
  }
  G* const gp = sched.stopped.pop_front();
  publish_size_locked();
  return gp;
}

G* take_any_stopped_locked() noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  G* const gp = sched.stopped.pop_front();
  if (gp != nullptr) publish_size_locked();
  return gp;
}

void submit(G* gp) noexcept {
  M* woken = nullptr;
  {
    locked l;
    if (gp->epoch != sched.epoch.load(std::memory_order_relaxed)) return;  // changes under L
    put_global_locked(gp);
    woken = wake_one_locked();
  }
  wake_m(woken);  // as long as this M sleeps with a P its runtime cannot end
}

void submit_woken(G* gp) noexcept {
  M* woken = nullptr;
  {
    locked l;
    if (gp->epoch != sched.epoch.load(std::memory_order_relaxed)) return;  // changes under L
    if (!sched.pidle.empty()) {
      put_global_locked(gp);
      woken = wake_one_locked();
    } else {
      const bool is_first = sched.urgent.empty();  // else somebody is called already
      put_urgent_locked(gp);
      if (is_first) {
        woken = wake_borrower_locked();
      } else {
        rouse_sysmon(kUrgentPatienceNs);  // should that one have no luck
      }
    }
  }
  wake_m(woken);
}

G* take_global_locked(P* pp, std::uint32_t max) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  const auto size = static_cast<std::uint32_t>(sched.runq.size());
  G* const first = pop_locked();
  if (first == nullptr) return nullptr;
  base::add_by_owner(pp->schedtick, 1);
  // And a share of the ordinary ones; if the first is none of them at least one, so that they are served each time.
  const std::uint32_t is_ordinary = sched.runq.size() != size ? 1 : 0;
  const std::uint32_t share = size / sched.nprocs.load(std::memory_order_relaxed) + 1;  // a hint
  const std::uint32_t room = rt::run_queue::kCapacity - pp->queue.ring_size();
  std::uint32_t n = std::min({size, share, room + is_ordinary, rt::run_queue::kCapacity / 2, max});
  for (n -= std::min(n, is_ordinary); n > 0; --n) pp->queue.push(sched.runq.pop_front());
  publish_size_locked();
  return first;
}

G* take_global(P* pp, std::uint32_t max) noexcept {
  if (!has_global()) return nullptr;
  locked l;
  return take_global_locked(pp, max);
}

// One queue for all of them, or there would be nothing to choose from. Those that are stopped stay apart, each with its thread; while there are
// any, turns are taken as ever.
G* take_by_choice(P* pp) noexcept {
  G* gp = nullptr;
  {
    locked l;
    drain_locked(pp);
    if (!sched.stopped.empty()) {
      gp = pop_locked();
    } else {
      sched.urgent.splice_back(sched.runq);  // in front: they are the ones who were woken
      std::swap(sched.urgent, sched.runq);
      if (!sched.runq.empty()) gp = sched.runq.take_at(choose_next(sched.runq));
    }
    publish_size_locked();
  }
  if (gp == nullptr) return nullptr;
  base::add_by_owner(pp->schedtick, 1);
  // What the goroutine draws until the next switch (a select) is of the same row, whichever thread it is on.
  if (M* const mp = current_m()) mp->random = base::rng(draw(UINT32_MAX));
  if (has_global())
    wake_one();  // one of the others may have been at pp's front, unknown to anybody
  return gp;
}

void drain_locked(P* pp) noexcept {
  WEFT_CHECK(sched.lock.is_held(), "requires L");
  if (G* const gp = std::exchange(pp->picked, nullptr)) sched.runq.push_front(gp);
  if (G* const gp = take_handy(pp)) sched.runq.push_back(gp);
  if (G* const gp = pp->queue.take_next()) sched.runq.push_back(gp);
  while (G* const gp = pp->queue.pop()) sched.runq.push_back(gp);
  publish_size_locked();
}

}  // namespace weft::sched
