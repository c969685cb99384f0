// cpu_count.hpp: how many processors to use when nobody says.
//
// Three rules, each as in Go: no more than the CPUs the scheduler may place us on, no more than the cgroup quota pays for,
// rounded up; but two where there are two, since one P would let a single computing goroutine hold up all the others.
#pragma once

#include "os/cgroup.hpp"

namespace weft::os {

// CPUs that the calling thread may run on. Threads inherit the mask from the one that makes them, so this is also what the
// threads made by it can use. At least 1.
unsigned online_cpus() noexcept;

// How many processors suit so many CPUs under this quota. Pure.
unsigned procs_for(unsigned cpus, const cpu_quota& quota) noexcept;

// The default of max_procs for this process, now.
unsigned default_procs(cgroup_paths paths = {}) noexcept;

}  // namespace weft::os
