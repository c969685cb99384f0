// latch.cpp: weft::latch on wait_group_core: a count that only falls.
#include "sched/crash.hpp"
#include "sync/wait_group_core.hpp"
#include "sync/waiting.hpp"

#include <weft/latch.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::wait_group_core<os::futex_atomics, rt::G>;

}  // namespace

std::uint64_t latch::checked(std::ptrdiff_t expected) noexcept {
  if (expected < 0 || expected > max()) sched::misuse("latch with a count out of range");
  return static_cast<std::uint64_t>(expected);
}

void latch::count_down(std::ptrdiff_t n) noexcept {
  const sched::bracket inside;
  const bool is_sound = n >= 0 && n <= max() &&
                        core::add(count_, sync::lock_of(lock_), waiters_,
                                  static_cast<std::int32_t>(-n), sync::waker{inside.m()});
  if (!is_sound) [[unlikely]]
    sched::misuse("latch counted down below zero");
}

void latch::wait_slow() const noexcept {
  sync::park_in_list(
      [this](core::record* mine) {
        return core::push(count_, sync::lock_of(lock_), waiters_, mine);
      },
      rt::wait_reason::latch_wait, this);
}

}  // namespace weft::inline v1
