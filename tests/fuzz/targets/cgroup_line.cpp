// cgroup_line.cpp: a line of /proc/self/cgroup that may be anything: the path found is the end of the line, and the same again when it is
// written as the kernel does.
#include <algorithm>
#include <string>

#include "fuzz/fuzz.hpp"
#include "os/cgroup_text.hpp"

namespace weft {
namespace {

using fuzz::promise;

std::string print(const os::cgroup_membership& m) {
  return (m.version == os::cgroup_version::v2 ? "0::" : "12:cpuset,cpu:") + std::string(m.path);
}

}  // namespace

FUZZ_TARGET(cgroup_line) {
  const fuzz::exact line(input);
  const auto found = os::parse_cgroup_line(line);
  if (!found) {
    promise(!(line.view().starts_with("0::/") || line.view().starts_with("1:cpu:/")),
            "a line of the kernel's is taken");
    return;
  }
  promise(line.holds(found->path), "the path is a part of the line");
  promise(line.view().ends_with(found->path) && found->path.starts_with('/'),
          "the path is the line's end");
  const std::string_view before = line.view().substr(0, line.view().size() - found->path.size());
  promise(before.ends_with(':') && std::count(before.begin(), before.end(), ':') == 2,
          "two fields stand before the path");
  promise((found->version == os::cgroup_version::v2) == before.ends_with("::"),
          "version 2 names no controllers");

  const fuzz::exact again(print(*found));
  const auto reread = os::parse_cgroup_line(again);
  promise(reread && reread->version == found->version && reread->path == found->path,
          "what was found can be written down");
}

}  // namespace weft
