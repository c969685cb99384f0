// mount_line.cpp: a line of /proc/self/mountinfo that may be anything, and what is done with its paths.
//
// Input: a group's path as in /proc/self/cgroup, a line feed, the line.
#include <string>

#include "fuzz/fuzz.hpp"
#include "os/cgroup_text.hpp"
#include "os/parse.hpp"

namespace weft {
namespace {

using fuzz::exact;
using fuzz::promise;

// As the kernel writes a path.
std::string escape(std::string_view path) {
  std::string all;
  for (const char c : path) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\\') {
      const auto n = static_cast<unsigned char>(c);
      all += {'\\', static_cast<char>('0' + (n >> 6)), static_cast<char>('0' + ((n >> 3) & 7)),
              static_cast<char>('0' + (n & 7))};
    } else {
      all += c;
    }
  }
  return all;
}

void try_unescape(std::string_view escaped) {
  os::path_buffer out;
  if (!os::append_unescaped(out, exact(escaped))) {
    promise(escaped.find('\\') != escaped.npos || escaped.size() > os::path_buffer::kCapacity,
            "a path without escapes that fits is taken");
    return;
  }
  promise(out.size() <= os::path_buffer::kCapacity && out.size() <= escaped.size(),
          "it gets no longer");
  promise(out.c_str()[out.size()] == '\0', "it ends in a zero");
  os::path_buffer again;
  promise(os::append_unescaped(again, exact(escape(out.view()))) && again.view() == out.view(),
          "escaped as the kernel does it comes back");
}

void try_path_below(std::string_view group, std::string_view root) {
  const exact g(group), r(root);
  const auto below = os::path_below(g, r);
  if (!below) return;
  promise(below->empty() || below->starts_with('/'), "it starts with a slash, or is nothing");
  const std::string slashed = std::string(*below) + '/';
  promise(slashed.find("/../") == slashed.npos, "nobody climbs");

  const exact whole((root == "/" ? "" : std::string(root)) + std::string(*below));
  promise(whole.view() == group || std::string(whole) + '/' == group,
          "the root and what is below make the group");
  const auto again = os::path_below(whole, r);
  promise(again && *again == *below, "and are taken apart again");
}

std::string print(const os::cgroup_mount& m) {
  const bool is_v2 = m.version == os::cgroup_version::v2;
  return "35 25 0:30 " + std::string(m.root) + ' ' + std::string(m.point) +
         " rw,relatime shared:9 - " +
         (is_v2 ? "cgroup2 cgroup2 rw" : "cgroup cgroup rw,cpu,cpuacct");
}

}  // namespace

FUZZ_TARGET(mount_line) {
  std::string_view rest = input;
  const std::string_view group = os::take_field(rest, '\n');
  const exact line(rest);
  try_unescape(line);

  const auto found = os::parse_mount_line(line);
  if (!found) return;
  for (const std::string_view path : {found->root, found->point}) {
    promise(line.holds(path), "paths are parts of the line");
    promise(path.starts_with('/') && path.find(' ') == path.npos, "a path is one absolute field");
    try_unescape(path);
    try_path_below(group, path);
  }
  const exact again(print(*found));
  const auto reread = os::parse_mount_line(again);
  promise(reread && reread->version == found->version && reread->root == found->root &&
              reread->point == found->point,
          "what was found can be written down");
}

}  // namespace weft
