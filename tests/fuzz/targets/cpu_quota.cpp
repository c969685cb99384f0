// cpu_quota.cpp: cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us, with anything in them.
//
// Input: the one or the quota, a line feed, the period.
#include <string>

#include "fuzz/fuzz.hpp"
#include "os/cgroup_text.hpp"
#include "os/parse.hpp"

namespace weft {
namespace {

using fuzz::exact;
using fuzz::promise;

bool is_same(const std::optional<os::cpu_quota>& a, const os::cpu_quota& b) {
  return a && a->limited == b.limited && a->quota_us == b.quota_us && a->period_us == b.period_us;
}

void expect_sense(const os::cpu_quota& q) {
  promise(!q.limited || (q.quota_us > 0 && q.period_us > 0),
          "a limit is of something, in something");
  promise(!q.limited || q.cpus() > 0, "a limit is above nothing");
  promise(!q.is_tighter_than(q), "nothing is tighter than itself");
  promise(q.is_tighter_than(os::cpu_quota{}) == q.limited, "any limit is tighter than none");
}

}  // namespace

FUZZ_TARGET(cpu_quota) {
  std::string_view rest = input;
  const exact first(os::take_field(rest, '\n'));
  const exact second(rest);

  const auto v2 = os::parse_cpu_max(first);
  if (v2) {
    expect_sense(*v2);
    const std::string text =
        v2->limited ? std::to_string(v2->quota_us) + ' ' + std::to_string(v2->period_us)
                    : std::string("max 100000");
    promise(is_same(os::parse_cpu_max(exact(text + '\n')), *v2), "cpu.max comes back");
  }

  const auto v1 = os::parse_cfs(first, second);
  if (v1) {
    expect_sense(*v1);
    const std::string quota = v1->limited ? std::to_string(v1->quota_us) : std::string("-1");
    const std::string period = v1->limited ? std::to_string(v1->period_us) : std::string("100000");
    promise(is_same(os::parse_cfs(exact(quota + '\n'), exact(period + '\n')), *v1),
            "cfs_quota_us comes back");
  }
  if (v1 && v2 && v1->limited && v2->limited)
    promise(!(v1->is_tighter_than(*v2) && v2->is_tighter_than(*v1)), "one of two is tighter");
}

}  // namespace weft
