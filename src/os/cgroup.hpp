// cgroup.hpp: how much CPU time the cgroups of this process leave it, v1 and v2.
//
// The own group is only half the answer: each group on the way up to the root may be tighter (a container inside a pod, a
// service inside a slice), and the tightest one rules. Each is a directory above the other, so one path is all that is
// remembered:
//
//     /sys/fs/cgroup/pod.slice/app.scope          <- dir_; every directory down to ...
//     `-- mount --'                               <- ... floor_ is asked for its quota
//
// A level without the file is passed over, not an error: the root of v2 has none, and neither has a group for which nobody
// turned the cpu controller on. Because that can be turned on later, every read starts at the own group again.
//
// Called by sysmon about once a second: no malloc, no throw, no stdio; up to 32 KiB of stack.
// One thread at a time. A process that is moved to another group while its old one lives on is not noticed until open().
#pragma once

#include <cstddef>
#include <optional>

#include "os/cgroup_text.hpp"

namespace weft::os {

// Where the kernel's files are. Tests put a directory of their own before all of them; it must outlive its users.
struct cgroup_paths {
  const char* root = "";
};

class cpu_limit {
 public:
  // Finds the group of this process. False when there is none that could limit CPU time or none that can be seen.
  bool open(cgroup_paths paths = {}) noexcept;

  // The tightest quota on the way up. Looks for the group anew when a level that answered before does not answer any more.
  // Nothing when no level could be read: then what was known before is still the best guess.
  std::optional<cpu_quota> read() noexcept;

 private:
  struct answers {
    cpu_quota tightest;
    unsigned nlevels = 0;  // groups that gave an answer
  };

  bool find_directory(cgroup_version version, std::string_view group) noexcept;
  answers ask_all_levels() const noexcept;
  std::optional<cpu_quota> ask_level(path_buffer& dir) const noexcept;

  cgroup_paths paths_;
  path_buffer dir_;        // directory of the own group; empty: none
  std::size_t floor_ = 0;  // how much of dir_ is the mount point
  unsigned nlevels_ = 0;   // answers that came last time
  cgroup_version version_ = cgroup_version::v2;
};

}  // namespace weft::os
