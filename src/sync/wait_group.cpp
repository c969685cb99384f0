// wait_group.cpp: weft::wait_group on wait_group_core.
#include <weft/sync.hpp>
#include "os/futex.hpp"
#include "sched/crash.hpp"
#include "sched/entry.hpp"
#include "sched/park.hpp"
#include "sync/wait_group_core.hpp"

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

void wait_group::add(std::int32_t n) noexcept {
  sched::bracket inside;
  const bool ok = core::add(count_, lock_of(lock_), waiters_, n,
                            [&](rt::G* gp) { sched::ready(inside.m(), gp); });
  if (!ok) [[unlikely]]
    sched::misuse("negative wait_group counter");
}

void wait_group::wait_slow() noexcept {
  waiting w{{nullptr, nullptr}, &count_, &lock_of(lock_), &waiters_};
  sched::park(&publish, &w, rt::wait_reason::wait_group, this);
}

}  // namespace weft::inline v1
