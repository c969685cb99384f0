// latch.cpp: weft::latch on wait_group_core: a count that only falls.
#include "os/futex.hpp"
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"
#include "sync/wait_group_core.hpp"

#include <weft/latch.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::wait_group_core<os::futex_atomics, rt::G>;

// The header shows only a word: the lock's type is the library's.
core::lock& lock_of(std::atomic<std::uint32_t>& word) noexcept {
  static_assert(sizeof(core::lock) == sizeof word &&
                alignof(core::lock) == alignof(std::atomic<std::uint32_t>));
  return reinterpret_cast<core::lock&>(word);
}

struct waiting {
  core::record mine;
  core::word* count;
  core::lock* lock;
  void** waiters;
};

bool publish(rt::G* gp, void* arg) {
  auto* const w = static_cast<waiting*>(arg);
  w->mine.who = gp;
  return core::push(*w->count, *w->lock, *w->waiters, &w->mine);
}

}  // namespace

std::uint64_t latch::checked(std::ptrdiff_t expected) noexcept {
  if (expected < 0 || expected > max()) sched::misuse("latch with a count out of range");
  return static_cast<std::uint64_t>(expected);
}

void latch::count_down(std::ptrdiff_t n) noexcept {
  const sched::bracket inside;
  const bool is_sound = n >= 0 && n <= max() &&
                        core::add(count_, lock_of(lock_), waiters_, static_cast<std::int32_t>(-n),
                                  [&](rt::G* gp) { sched::ready(inside.m(), gp); });
  if (!is_sound) [[unlikely]]
    sched::misuse("latch counted down below zero");
}

void latch::wait_slow() noexcept {
  waiting w{{nullptr, nullptr}, &count_, &lock_of(lock_), &waiters_};
  sched::park(&publish, &w, rt::wait_reason::latch_wait, this);
}

}  // namespace weft::inline v1
