// cgroup_text.cpp: see cgroup_text.hpp.
#include "os/cgroup_text.hpp"

#include <algorithm>

#include "os/parse.hpp"

namespace weft::os {
namespace {

// A quota or period of nothing cannot be a limit; the kernel writes neither.
std::optional<cpu_quota> make_quota(std::optional<std::uint64_t> quota,
                                    std::optional<std::uint64_t> period) noexcept {
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return cpu_quota{*quota, *period, true};
}

}  // namespace

std::optional<cgroup_membership> parse_cgroup_line(std::string_view line) noexcept {
  std::string_view rest = line;  // the path may contain colons, so it is what remains
  const auto id = parse_number<unsigned>(take_field(rest, ':'));
  const std::string_view controllers = take_field(rest, ':');
  if (!id || !rest.starts_with('/')) return std::nullopt;
  if (*id == 0 && controllers.empty()) return cgroup_membership{cgroup_version::v2, rest};
  if (*id != 0 && list_contains(controllers, "cpu"))
    return cgroup_membership{cgroup_version::v1, rest};
  return std::nullopt;
}

std::optional<cgroup_mount> parse_mount_line(std::string_view line) noexcept {
  std::string_view rest = line;
  const auto id = parse_number<unsigned>(take_field(rest, ' '));
  const auto parent = parse_number<unsigned>(take_field(rest, ' '));
  take_field(rest, ' ');  // major:minor
  const std::string_view root = take_field(rest, ' ');
  const std::string_view point = take_field(rest, ' ');
  take_field(rest, ' ');  // options of this mount; those of the hierarchy come last
  if (!id || !parent || !root.starts_with('/') || !point.starts_with('/')) return std::nullopt;

  for (;;) {  // any number of optional fields, then a dash
    if (rest.data() == nullptr) return std::nullopt;
    if (take_field(rest, ' ') == "-") break;
  }
  const std::string_view type = take_field(rest, ' ');
  take_field(rest, ' ');  // source; may be empty
  const std::string_view super_options = rest;
  if (super_options.empty()) return std::nullopt;

  if (type == "cgroup2") return cgroup_mount{cgroup_version::v2, root, point};
  if (type == "cgroup" && list_contains(super_options, "cpu"))
    return cgroup_mount{cgroup_version::v1, root, point};
  return std::nullopt;
}

bool append_unescaped(path_buffer& out, std::string_view escaped) noexcept {
  const auto octal = [](char c) { return c >= '0' && c <= '7' ? c - '0' : -1; };
  while (!escaped.empty()) {
    const std::size_t plain = std::min(escaped.find('\\'), escaped.size());
    if (!out.append(escaped.substr(0, plain))) return false;
    escaped.remove_prefix(plain);
    if (escaped.empty()) break;

    if (escaped.size() < 4) return false;
    const int a = octal(escaped[1]), b = octal(escaped[2]), c = octal(escaped[3]);
    if (a < 0 || b < 0 || c < 0) return false;
    const int value = a * 64 + b * 8 + c;
    if (value == 0 || value > 255 || !out.append(static_cast<char>(value))) return false;
    escaped.remove_prefix(4);
  }
  return true;
}

std::optional<std::string_view> path_below(std::string_view group,
                                           std::string_view mount_root) noexcept {
  if (mount_root == "/") mount_root = "";
  if (!group.starts_with(mount_root)) return std::nullopt;
  std::string_view below = group.substr(mount_root.size());
  if (!below.empty() && !below.starts_with('/')) return std::nullopt;  // /ab is not below /a
  if (list_contains(below, "..", '/')) return std::nullopt;
  if (below == "/") below = "";
  return below;
}

std::optional<cpu_quota> parse_cpu_max(std::string_view text) noexcept {
  std::string_view rest = without_newline(text);
  const std::string_view quota = take_field(rest, ' ');
  const auto period = parse_number<std::uint64_t>(rest);
  if (quota == "max" && period) return cpu_quota{};
  return make_quota(parse_number<std::uint64_t>(quota), period);
}

std::optional<cpu_quota> parse_cfs(std::string_view quota, std::string_view period) noexcept {
  const auto signed_quota = parse_number<std::int64_t>(without_newline(quota));
  if (!signed_quota) return std::nullopt;
  if (*signed_quota < 0) return cpu_quota{};
  return make_quota(static_cast<std::uint64_t>(*signed_quota),
                    parse_number<std::uint64_t>(without_newline(period)));
}

}  // namespace weft::os
