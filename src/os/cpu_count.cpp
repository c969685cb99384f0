// cpu_count.cpp: see cpu_count.hpp.
#include "os/cpu_count.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

#include "os/system_call.hpp"

namespace weft::os {

unsigned online_cpus() noexcept {
  // The kernel refuses a mask shorter than its own, and 8192 CPUs is the most it can be built for on our processors.
  std::uint64_t mask[8192 / 64] = {};
  if (call(site::affinity, ::syscall, SYS_sched_getaffinity, 0, sizeof mask, mask) <= 0) return 1;
  unsigned ncpus = 0;
  for (const std::uint64_t word : mask) ncpus += static_cast<unsigned>(std::popcount(word));
  return std::max(ncpus, 1U);
}

unsigned procs_for(unsigned cpus, const cpu_quota& quota) noexcept {
  cpus = std::max(cpus, 1U);
  if (!quota.limited || quota.period_us == 0) return cpus;
  const std::uint64_t paid_for =
      quota.quota_us / quota.period_us + (quota.quota_us % quota.period_us != 0);
  return static_cast<unsigned>(std::min<std::uint64_t>(cpus, std::max<std::uint64_t>(paid_for, 2)));
}

unsigned default_procs(cgroup_paths paths) noexcept {
  cpu_limit limit;
  limit.open(paths);
  return procs_for(online_cpus(), limit.read().value_or(cpu_quota{}));
}

}  // namespace weft::os
