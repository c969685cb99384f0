// barrier.cpp: weft::barrier on barrier_core.
#include "sched/crash.hpp"
#include "sync/barrier_core.hpp"
#include "sync/waiting.hpp"

#include <weft/barrier.hpp>

namespace weft::inline v1::detail {

namespace {

using core = sync::barrier_core<os::futex_atomics, sched::waiter, sync::goroutines>;

core core_of(std::atomic<std::uint64_t>& state, waiters& w) noexcept {
  return {state, sync::lock_of(w), w.queue.first, w.queue.last};
}

struct waiting {
  core barrier;
  std::uint32_t phase;
  core::record mine{};
};

bool enter(sched::waiter* w, void* arg) {
  auto* const me = static_cast<waiting*>(arg);
  me->mine.who = w;
  return me->barrier.enter(&me->mine, me->phase);
}

std::uint32_t checked(std::ptrdiff_t expected) noexcept {
  if (expected < 0 || expected > INT32_MAX) sched::misuse("barrier with a count out of range");
  return static_cast<std::uint32_t>(expected);
}

[[noreturn]] void too_many() noexcept {
  sched::misuse("more arrived at a barrier than it expects");
}

}  // namespace

barrier_base::barrier_base(std::ptrdiff_t expected) noexcept
    : state_(checked(expected)), expected_(static_cast<std::uint32_t>(expected)) {}

barrier_base::arrived barrier_base::count_down(std::ptrdiff_t n) noexcept {
  if (n <= 0 || n > INT32_MAX) too_many();
  const core::arrival a = core_of(state_, waiters_).arrive(static_cast<std::uint32_t>(n));
  if (a.left < 0) too_many();
  return {a.phase, a.left == 0};
}

// relaxed: the last one has acquired what those before it did, this included  [barrier.phase]
void barrier_base::expect_one_less() noexcept {
  if (expected_.fetch_sub(1, std::memory_order_relaxed) == 0) too_many();
}

void barrier_base::next_phase() noexcept {
  const sched::bracket inside;
  core_of(state_, waiters_)
      .next_phase(expected_.load(std::memory_order_relaxed),  // as above
                  sync::waker{inside.m()});
}

void barrier_base::wait_slow(std::uint32_t phase) const noexcept {
  waiting me{core_of(state_, waiters_), phase};
  sync::wait_until({&enter, nullptr, &me}, rt::kNever, rt::wait_reason::barrier_wait, this);
}

}  // namespace weft::inline v1::detail
