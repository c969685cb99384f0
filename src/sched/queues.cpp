// queues.cpp: see queues.hpp.
#include "sched/queues.hpp"

#include <algorithm>

#include "sched/procs.hpp"

namespace weft::sched {

namespace {

void publish_size_locked() noexcept {
  // seq_cst: a submitter's or an idler's half of [idle.no_lost_wake]
  sched.nrunq.store(static_cast<std::uint32_t>(sched.runq.size()), std::memory_order_seq_cst);
}

// The older half of the ring, unless a thief made room.
void spill(P* pp) noexcept {
  G* half[rt::run_queue::kSpill];
  if (!pp->queue.spill_half(half)) return;
  rt::g_queue batch;  // linked up before L is taken
  for (G* each : half) batch.push_back(each);
  locked l;
  sched.runq.splice_back(batch);
  publish_size_locked();
}

}  // namespace

void put_local_slow(P* pp, G* gp) noexcept {
  do {
    spill(pp);
  } while (!pp->queue.push(gp));
}

void put_global_locked(G* gp) noexcept {
  sched.runq.push_back(gp);
  publish_size_locked();
}

void put_global(G* gp) noexcept {
  locked l;
  put_global_locked(gp);
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

G* take_global_locked(P* pp, std::uint32_t max) noexcept {
  const auto size = static_cast<std::uint32_t>(sched.runq.size());
  if (size == 0) return nullptr;
  const std::uint32_t share = size / sched.nprocs.load(std::memory_order_relaxed) + 1;
  const std::uint32_t room = rt::run_queue::kCapacity - pp->queue.ring_size();
  std::uint32_t n = std::min({size, share, room + 1, rt::run_queue::kCapacity / 2, max});
  G* const first = sched.runq.pop_front();
  while (--n > 0) pp->queue.push(sched.runq.pop_front());
  publish_size_locked();
  return first;
}

G* take_global(P* pp, std::uint32_t max) noexcept {
  if (!has_global()) return nullptr;
  locked l;
  return take_global_locked(pp, max);
}

void drain_locked(P* pp) noexcept {
  if (G* const gp = std::exchange(pp->picked, nullptr)) sched.runq.push_front(gp);
  if (G* const gp = pp->queue.take_next()) sched.runq.push_back(gp);
  while (G* const gp = pp->queue.pop()) sched.runq.push_back(gp);
  publish_size_locked();
}

}  // namespace weft::sched
