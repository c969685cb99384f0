// steal.cpp: taking half of another P's queue.
//
// Victims are visited in a random order that meets each exactly once: start anywhere and step by a number that has no factor in
// common with their count. Four rounds; only in the last one is the goroutine at a victim's front taken, and only after a short
// pause: it was readied by the goroutine that runs there, which is likely to park now and run it itself, with a warm cache.
//
// Somebody who yields all the time keeps his P from ever being idle, so nobody would steal for it: three who yield by turns on the next P would
// go on at a third of his pace. So whoever yields and has nobody to make room for takes from a ring that has two or more. Not from
// one that has one: they would be as uneven afterwards, and the next to yield alone would take it back.
// He does not spin meanwhile, so no submitter has relied on him, and he owes nobody a second look; but whoever looked round while he had them
// in hand, in neither ring, may have gone to sleep. He asks for idle Ps himself when he is queued behind them, a step later, as all who
// yield (commit_departure), and what that misses sysmon finds (README.md, [idle.no_lost_wake] 4).
#include "os/thread.hpp"
#include "sched/find_runnable.hpp"
#include "sched/steal_order.hpp"

namespace weft::sched {

namespace {

constexpr int kRounds = 4;
constexpr int kFrontPauses = 100;  // some 3 us

G* steal_from(P* mine, P* victim, bool is_last_round) noexcept {
  if (is_last_round && victim->queue.has_next() &&
      victim->status.load(std::memory_order_relaxed) == p_status::running) {  // a hint
    for (int i = 0; i < kFrontPauses && victim->queue.has_next(); ++i) os::futex_atomics::pause();
  }
  bool took_front = false;
  G* const gp = mine->queue.steal_into(victim->queue, is_last_round, &took_front);
  if (took_front)
    victim->was_defer_wrong.store(true, std::memory_order_relaxed);  // a hint for its holder
  if (gp != nullptr) {
    base::add_by_owner(mine->counters.nsteals, 1);
    base::add_by_owner(mine->schedtick, 1);
  }
  return gp;
}

}  // namespace

G* steal_work(M* mp) noexcept {
  P* const mine = mp->proc();
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  if (n == 1) return nullptr;
  for (int round = 0; round < kRounds; ++round) {
    steal_order order(n, static_cast<std::uint32_t>(mp->random.next()));
    for (std::uint32_t i = 0; i < n; ++i, order.step()) {
      if (sched.is_stopping.load(std::memory_order_relaxed)) return nullptr;  // a hint
      P* const victim = p_at(order.position());
      if (victim == mine) continue;
      if (G* const gp = steal_from(mine, victim, round == kRounds - 1)) return gp;
    }
  }
  return nullptr;
}

G* steal_surplus(M* mp) noexcept {
  P* const mine = mp->proc();
  const std::uint32_t n = sched.nprocs.load(std::memory_order_acquire);  // these Ps are made
  if (n == 1) return nullptr;
  steal_order order(n, static_cast<std::uint32_t>(mp->random.next()));
  for (std::uint32_t i = 0; i < n; ++i, order.step()) {
    P* const victim = p_at(order.position());
    if (victim == mine || victim->queue.ring_size() < 2) continue;  // a hint: it may have one left
    if (G* const gp = steal_from(mine, victim, false)) return gp;
  }
  return nullptr;
}

}  // namespace weft::sched
