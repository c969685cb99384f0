// idle_protocol.hpp: the four words by which a submitter knows whether to wake somebody, and an idler whether it may sleep.
//
// A thread without work must sleep, and a submitter must not pay for a wake-up each time. So some Ms *spin*: they hold a P, have no work
// and look for some. Work is announced unless somebody spins, and whoever stops spinning looks once more.
//
//    submitter                                 idler
//    1 put the goroutine into a queue          a  find nothing (own, global, others)
//    2 npidle == 0 ? done                      b  under L: global queue once more; P into the idle list, npidle + 1
//    3 nspinning != 0 ? done                   c  was spinning: nspinning - 1
//    4 CAS nspinning 0 -> 1 : take an idle P,  d  any queue non-empty ? take a P back and go on
//      wake an M for it, which spins           e  sleep
// 1-3 and b-d are seq_cst, so they stand in one order that all agree on, and of the two sides one sees the other. If 4 finds no idle P
// the count falls again, and somebody may have trusted it meanwhile: so needs_spinning is set before, and whoever wants to drop a P
// without having spun sees that, under L, and spins first.  [idle.no_lost_wake]
//
// src/sched/README.md has the proof; the lists behind the counts, L, and who sleeps where are the scheduler's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"

namespace weft::rt {

template <class A>
struct alignas(base::kCacheLine) basic_idle_protocol {
  typename A::template atomic<std::uint32_t> nrunq{0};   // in the global queues; written under L
  typename A::template atomic<std::uint32_t> npidle{0};  // Ps without work; written under L
  typename A::template atomic<std::uint32_t> nspinning{0};
  // A wake-up found no idle P; whoever is about to drop one must spin.
  typename A::template atomic<bool> needs_spinning{false};

  // --- what was put into the lists, under L ---

  void publish_global(std::size_t n) noexcept {
    nrunq.store(static_cast<std::uint32_t>(n), std::memory_order_seq_cst);  // 1
  }
  void publish_idle(std::size_t n) noexcept {
    npidle.store(static_cast<std::uint32_t>(n), std::memory_order_seq_cst);  // b
  }

  // --- the submitter, after 1 ---

  // 2, 3: nobody need be woken.
  bool may_skip_wake() const noexcept {
    return may_skip_wake([] {});
  }
  // The same with something between the two looks, for those who want to see what that does.
  template <class Between>
  bool may_skip_wake(Between&& between) const noexcept {
    if (npidle.load(std::memory_order_seq_cst) == 0) return true;
    between();
    return nspinning.load(std::memory_order_seq_cst) != 0;
  }

  // 4, under L: take_idle() gives a P or null. The P for an M that will spin and is counted already; null: nobody is to be woken.
  template <class TakeIdle>
  auto begin_first_spinner(TakeIdle&& take_idle) noexcept -> decltype(take_idle()) {
    std::uint32_t none = 0;
    if (!nspinning.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return nullptr;
    const auto pp = take_p_to_spin(take_idle);
    if (pp == nullptr) stop_spinning();
    return pp;
  }

  // Under L, for one that is going to spin: if there is no idle P, says so to whoever drops one next.
  template <class TakeIdle>
  auto take_p_to_spin(TakeIdle&& take_idle) noexcept -> decltype(take_idle()) {
    const auto pp = take_idle();
    if (pp == nullptr) needs_spinning.store(true, std::memory_order_seq_cst);
    return pp;
  }

  // --- the idler ---

  // Spinning is worth a CPU only while there are not many who do: at most half as many as there are busy Ps.
  bool may_begin_spinning(std::uint32_t nprocs) const noexcept {
    const std::uint32_t nbusy = nprocs - npidle.load(std::memory_order_seq_cst);
    return 2 * nspinning.load(std::memory_order_seq_cst) < nbusy;
  }

  void begin_spinning() noexcept {
    nspinning.fetch_add(1, std::memory_order_seq_cst);
    needs_spinning.store(false, std::memory_order_seq_cst);
  }

  // c. The number before.
  std::uint32_t stop_spinning() noexcept {
    return nspinning.fetch_sub(1, std::memory_order_seq_cst);
  }

  // Under L, by one who is about to drop a P without having spun: somebody has work and found no idle P for it.
  bool must_spin_first() const noexcept { return needs_spinning.load(std::memory_order_seq_cst); }

  bool has_global() const noexcept { return nrunq.load(std::memory_order_seq_cst) != 0; }

  // d: is_empty(i) for the queue of each P.
  template <class IsEmpty>
  bool is_anything_queued(std::uint32_t nprocs, IsEmpty&& is_empty) const noexcept {
    if (has_global()) return true;
    for (std::uint32_t i = 0; i < nprocs; ++i) {
      if (!is_empty(i)) return true;
    }
    return false;
  }

  // After b: c, d and the way back. stop(): stop_spinning() if it was, and says so. Whoever drops a P looks, also one that has not spun. True:
  // regain() took a P back.
  template <class Stop, class IsAnythingQueued, class Regain>
  bool look_once_more(Stop&& stop, IsAnythingQueued&& is_anything_queued,
                      Regain&& regain) noexcept {
    static_cast<void>(stop());
    return is_anything_queued() && regain();
  }
};

using idle_protocol = basic_idle_protocol<base::std_atomics>;

}  // namespace weft::rt
