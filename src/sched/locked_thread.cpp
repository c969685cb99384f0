// locked_thread.cpp: lock_os_thread and unlock_os_thread.
//
// Both halves are in schedule.cpp: a locked goroutine that stops gives its P away and its thread sleeps (wait_for_locked); whoever finds it
// runnable gives that thread its P (hand_over).
#include <stdexcept>

#include <weft/go.hpp>
#include "sched/entry.hpp"

namespace weft::inline v1 {

void lock_os_thread() {
  sched::bracket inside;
  if (inside.m() == nullptr) return;  // a plain thread is its own
  rt::G* const gp = inside.m()->curg();
  if (gp->nlocks == UINT16_MAX) return;
  ++gp->nlocks;
  gp->bound_m = inside.m();
  inside.m()->lockedg = gp;
}

void unlock_os_thread() {
  sched::bracket inside;
  if (inside.m() == nullptr) return;
  rt::G* const gp = inside.m()->curg();
  // As in Go, an unlock too many does nothing. The lock that options::lock_main took is the runtime's.
  const std::uint16_t keep =
      sched::sched.is_main_on_caller &&
      gp->goid.load(std::memory_order_relaxed) == sched::kMainGoid;  // our own
  if (gp->nlocks <= keep) return;
  if (--gp->nlocks != 0) return;
  gp->bound_m = nullptr;
  inside.m()->lockedg = nullptr;
}

}  // namespace weft::inline v1
