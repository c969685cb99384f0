// thread_tuning.cpp: see thread_tuning.hpp.
#include "os/thread_tuning.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "os/system_call.hpp"

namespace weft::os {
namespace {

// What sched_getattr(2) and sched_setattr(2) exchange, in its first and smallest version. Declared here because the C
// library's own declaration comes late, and clashes with the kernel's.
struct scheduling {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;  // SCHED_OTHER: the slice, since Linux 6.12
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};
static_assert(sizeof(scheduling) == 48);

constexpr std::uint64_t kResetOnFork = 1;  // the one flag that is a property of the thread

bool get(scheduling& now) noexcept {
  now = {};
  return call(site::slice_get, ::syscall, SYS_sched_getattr, 0, &now, sizeof now, 0U) == 0;
}

}  // namespace

bool set_timer_slack_ns(std::uint64_t ns) noexcept {
  const int saved = errno;
  const bool is_set = call(site::timer_slack, ::prctl, PR_SET_TIMERSLACK, ns, 0UL, 0UL, 0UL) == 0;
  errno = saved;
  return is_set;
}

std::uint64_t timer_slack_ns() noexcept {
  const int saved = errno;
  const int ns = ::prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
  errno = saved;
  return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
}

bool set_short_slice() noexcept {
  const int saved = errno;
  scheduling now;
  bool is_set = false;
  if (get(now) && now.policy == SCHED_OTHER) {
    scheduling wanted{};
    wanted.size = sizeof wanted;
    wanted.policy = SCHED_OTHER;
    wanted.flags = now.flags & kResetOnFork;
    wanted.nice = now.nice;
    wanted.runtime_ns = kShortSliceNs;
    is_set = call(site::slice_set, ::syscall, SYS_sched_setattr, 0, &wanted, 0U) == 0;
  }
  errno = saved;
  return is_set;
}

std::uint64_t slice_ns() noexcept {
  const int saved = errno;
  scheduling now;
  const bool is_known = get(now) && now.policy == SCHED_OTHER;
  errno = saved;
  return is_known ? now.runtime_ns : 0;
}

}  // namespace weft::os
