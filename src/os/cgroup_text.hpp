// cgroup_text.hpp: what the kernel's cgroup files say, as pure functions on text.
//
// No file is opened here, so that these functions can be fuzzed and tested on strings. All of them reject a text that is
// not exactly of the form the kernel writes (proc_pid_mountinfo(5), cgroups(7)): a wrong limit is worse than none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "os/path_buffer.hpp"

namespace weft::os {

enum class cgroup_version : std::uint8_t { v1, v2 };

// A share of CPU time: quota_us in every period_us.
struct cpu_quota {
  std::uint64_t quota_us = 0;
  std::uint64_t period_us = 0;  // never 0 when limited
  bool limited = false;

  double cpus() const noexcept {
    return static_cast<double>(quota_us) / static_cast<double>(period_us);
  }
  bool is_tighter_than(const cpu_quota& other) const noexcept {
    return limited && (!other.limited || cpus() < other.cpus());
  }
};

// Where the process stands in the hierarchy that may limit its CPU time. The path is as the process sees it: relative to
// the root of its cgroup namespace, not escaped.
struct cgroup_membership {
  cgroup_version version;
  std::string_view path;
};

// One line of /proc/self/cgroup, "ID:controllers:/path". Lines of hierarchies without the cpu controller give nothing.
std::optional<cgroup_membership> parse_cgroup_line(std::string_view line) noexcept;

// A mounted hierarchy; both paths are still escaped.
struct cgroup_mount {
  cgroup_version version;
  std::string_view
      root;  // the group that is seen at mount_point, in the same terms as cgroup_membership::path
  std::string_view point;
};

// One line of /proc/self/mountinfo,
//   ID parent major:minor root point options [tag[:value]]... - type source super_options
// Mounts that are no cgroup hierarchy with the cpu controller give nothing.
std::optional<cgroup_mount> parse_mount_line(std::string_view line) noexcept;

// Appends a mountinfo path with \ooo turned back into characters. False: a broken escape, a zero byte, or too long.
bool append_unescaped(path_buffer& out, std::string_view escaped) noexcept;

// The part of a group's path below the mount's root: empty, or starting with '/'. Nothing when the mount does not show the
// group, also when only a climb through ".." would lead there.
std::optional<std::string_view> path_below(std::string_view group,
                                           std::string_view mount_root) noexcept;

// cpu.max: "max 100000" or "150000 100000".
std::optional<cpu_quota> parse_cpu_max(std::string_view text) noexcept;

// cpu.cfs_quota_us ("-1": no limit) and cpu.cfs_period_us.
std::optional<cpu_quota> parse_cfs(std::string_view quota, std::string_view period) noexcept;

}  // namespace weft::os
