// cgroup.cpp: see cgroup.hpp.
#include "os/cgroup.hpp"

#include <algorithm>

#include "os/line_reader.hpp"

namespace weft::os {
namespace {

// Longer lines are skipped. Overlay mounts do have such lines, cgroup mounts do not.
constexpr std::size_t kLineSize = 4096;

// Calls visit(line) for every line of root + path until it returns false.
template <class Visit>
void for_each_line(const char* root, std::string_view path, Visit visit) noexcept {
  path_buffer full;
  if (!full.append(root) || !full.append(path)) return;
  raw_file file(full.c_str());
  if (!file.is_open()) return;
  char buffer[kLineSize];
  line_reader lines(file, buffer);
  for (std::string_view line; lines.next(line) && visit(line);) {
  }
}

std::optional<std::string_view> read_in(path_buffer& dir, std::string_view name,
                                        std::span<char> buffer) noexcept {
  const std::size_t size = dir.size();
  std::optional<std::string_view> text;
  if (dir.append(name)) text = read_small_file(dir.c_str(), buffer);
  dir.truncate(size);
  return text;
}

}  // namespace

bool cpu_limit::open(cgroup_paths paths) noexcept {
  paths_ = paths;
  dir_.truncate(0);
  nlevels_ = 0;

  // A controller belongs to one hierarchy: where v1 has the cpu controller, v2's group says nothing about CPU.
  path_buffer group;
  bool is_found = false;
  cgroup_version version = cgroup_version::v2;
  for_each_line(paths.root, "/proc/self/cgroup", [&](std::string_view line) {
    const auto membership = parse_cgroup_line(line);
    if (!membership) return true;
    group.truncate(0);
    is_found = group.append(membership->path);
    version = membership->version;
    return version != cgroup_version::v1;
  });
  return is_found && find_directory(version, group.view());
}

// A hierarchy may be mounted several times, each showing another part of it. The mount that reaches highest shows most of
// the groups above ours.
bool cpu_limit::find_directory(cgroup_version version, std::string_view group) noexcept {
  std::size_t best_root_size = 0;
  version_ = version;
  for_each_line(paths_.root, "/proc/self/mountinfo", [&](std::string_view line) {
    const auto mount = parse_mount_line(line);
    if (!mount || mount->version != version) return true;
    path_buffer scratch;
    if (!append_unescaped(scratch, mount->root)) return true;
    const std::size_t root_size = scratch.size();
    const auto below = path_below(group, scratch.view());
    if (!below || (dir_.size() > 0 && root_size >= best_root_size)) return true;

    scratch.truncate(0);
    if (!scratch.append(paths_.root) || !append_unescaped(scratch, mount->point)) return true;
    const std::size_t floor = scratch.size();
    if (!scratch.append(*below)) return true;
    dir_ = scratch;
    floor_ = floor;
    best_root_size = root_size;
    return true;
  });
  return dir_.size() > 0;
}

std::optional<cpu_quota> cpu_limit::read() noexcept {
  if (dir_.size() == 0) return std::nullopt;
  answers now = ask_all_levels();
  if (now.nlevels < nlevels_) {
    // Gone, or only out of descriptors for a moment? What is known is given up for something better only.
    cpu_limit fresh;
    if (!fresh.open(paths_)) return std::nullopt;
    now = fresh.ask_all_levels();
    if (now.nlevels > 0) *this = fresh;
  }
  if (now.nlevels == 0) return std::nullopt;
  nlevels_ = now.nlevels;
  return now.tightest;
}

cpu_limit::answers cpu_limit::ask_all_levels() const noexcept {
  answers all;
  path_buffer dir = dir_;
  for (;;) {
    if (const auto quota = ask_level(dir)) {
      ++all.nlevels;
      if (quota->is_tighter_than(all.tightest)) all.tightest = *quota;
    }
    if (dir.size() <= floor_) return all;
    dir.truncate(std::max(
        floor_, dir.view().rfind('/')));  // what is above floor_ starts with '/': it gets shorter
  }
}

// Needs room to write a file name behind dir, and takes it away again.
std::optional<cpu_quota> cpu_limit::ask_level(path_buffer& dir) const noexcept {
  char first[64], second[64];
  if (version_ == cgroup_version::v2) {
    const auto text = read_in(dir, "/cpu.max", first);
    return text ? parse_cpu_max(*text) : std::nullopt;
  }
  const auto quota = read_in(dir, "/cpu.cfs_quota_us", first);
  const auto period = read_in(dir, "/cpu.cfs_period_us", second);
  return quota && period ? parse_cfs(*quota, *period) : std::nullopt;
}

}  // namespace weft::os
