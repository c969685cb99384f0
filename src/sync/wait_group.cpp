// wait_group.cpp: weft::wait_group on wait_group_core.
#include "sched/crash.hpp"
#include "sync/wait_group_core.hpp"
#include "sync/waiting.hpp"

#include <weft/sync.hpp>

namespace weft::inline v1 {

namespace {

using core = sync::wait_group_core<os::futex_atomics, rt::G>;

}  // namespace

void wait_group::add(std::int32_t n) noexcept {
  const sched::bracket inside;
  const bool ok = core::add(count_, sync::lock_of(lock_), waiters_, n, sync::waker{inside.m()});
  if (!ok) [[unlikely]]
    sched::misuse("negative wait_group counter");
}

void wait_group::wait_slow() noexcept {
  sync::park_in_list(
      [this](core::record* mine) {
        return core::push(count_, sync::lock_of(lock_), waiters_, mine);
      },
      rt::wait_reason::wait_group, this);
}

}  // namespace weft::inline v1
