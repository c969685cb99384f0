#include "os/cgroup_text.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "os/test_support.hpp"

namespace weft::os {

bool operator==(const cpu_quota& a, const cpu_quota& b) {
  return a.limited == b.limited && a.quota_us == b.quota_us && a.period_us == b.period_us;
}
std::ostream& operator<<(std::ostream& out, const cpu_quota& q) {
  return q.limited ? out << q.quota_us << '/' << q.period_us : out << "no limit";
}

namespace {

constexpr cpu_quota kNoLimit{};
constexpr cpu_quota limit(std::uint64_t quota, std::uint64_t period) {
  return {quota, period, true};
}

TEST(cgroup_line, finds_the_group_that_has_the_cpu_controller) {
  struct {
    std::string_view line;
    cgroup_version version;
    std::string_view path;
  } const cases[] = {
      {"0::/", cgroup_version::v2, "/"},
      {"0::/user.slice/app.scope", cgroup_version::v2, "/user.slice/app.scope"},
      {"0::/a:b c\\d", cgroup_version::v2, "/a:b c\\d"},
      {"0::/gone (deleted)", cgroup_version::v2, "/gone (deleted)"},
      {"4:cpu:/", cgroup_version::v1, "/"},
      {"12:cpuacct,cpu:/docker/1234", cgroup_version::v1, "/docker/1234"},
      {"12:cpu,cpuacct:/x", cgroup_version::v1, "/x"},
  };
  for (const auto& c : cases) {
    const auto found = parse_cgroup_line(c.line);
    ASSERT_TRUE(found) << c.line;
    EXPECT_EQ(found->version, c.version) << c.line;
    EXPECT_EQ(found->path, c.path) << c.line;
  }
}

TEST(cgroup_line, rejects_other_controllers_and_malformed_lines) {
  for (const std::string_view line : {"",
                                      ":",
                                      "::",
                                      "0::",
                                      "0:",
                                      "0",
                                      "0::relative",
                                      "0:cpu:/x",
                                      ":cpu:/x",
                                      "x:cpu:/x",
                                      "-1:cpu:/x",
                                      "+1:cpu:/x",
                                      "99999999999:cpu:/x",
                                      "3:cpuset:/x",
                                      "3:cpuacct:/x",
                                      "1:name=cpu:/x",
                                      "1:name=systemd:/x",
                                      "5::/x",
                                      "4:cpu",
                                      "4:cpu:",
                                      " 0::/x"}) {
    EXPECT_FALSE(parse_cgroup_line(line)) << line;
  }
}

TEST(mount_line, finds_hierarchies_with_the_cpu_controller) {
  struct {
    std::string_view line;
    cgroup_version version;
    std::string_view root, point;
  } const cases[] = {
      {"35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate", cgroup_version::v2,
       "/", "/sys/fs/cgroup"},
      {"35 24 0:30 /../.. /mnt rw shared:4 master:2 - cgroup2 none rw", cgroup_version::v2,
       "/../..", "/mnt"},
      {"1 2 0:3 /docker/12 /sys/fs/cgroup/cpu\\040x ro - cgroup cgroup rw,cpuacct,cpu",
       cgroup_version::v1, "/docker/12", "/sys/fs/cgroup/cpu\\040x"},
      {"1 2 0:3 / /empty-source rw - cgroup2  rw", cgroup_version::v2, "/", "/empty-source"},
  };
  for (const auto& c : cases) {
    const auto found = parse_mount_line(c.line);
    ASSERT_TRUE(found) << c.line;
    EXPECT_EQ(found->version, c.version) << c.line;
    EXPECT_EQ(found->root, c.root) << c.line;
    EXPECT_EQ(found->point, c.point) << c.line;
  }
}

TEST(mount_line, rejects_other_mounts_and_malformed_lines) {
  for (const std::string_view line : {
           "",
           "1 2 0:3 / /sys rw - sysfs sysfs rw",
           "1 2 0:3 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset",
           "1 2 0:3 / /sys/fs/cgroup/named rw - cgroup cgroup rw,name=cpu",
           "1 2 0:3 / /cgroup2 rw - tmpfs cgroup2 rw,cpu",
           "x 2 0:3 / /m rw - cgroup2 cgroup2 rw",
           "1 y 0:3 / /m rw - cgroup2 cgroup2 rw",
           "1 2 0:3 root /m rw - cgroup2 cgroup2 rw",
           "1 2 0:3 / point rw - cgroup2 cgroup2 rw",
           "1 2 0:3 / /m rw shared:1 cgroup2 cgroup2 rw",  // no dash
           "1 2 0:3 / /m rw -",
           "1 2 0:3 / /m rw - cgroup2",
           "1 2 0:3 / /m rw - cgroup2 cgroup2",
           "1 2 0:3 / /m rw - cgroup2 cgroup2 ",
           "1 2 0:3 / /m",
           "1 2 0:3",
       }) {
    EXPECT_FALSE(parse_mount_line(line)) << line;
  }
}

TEST(unescape, turns_octal_escapes_back) {
  for (const auto& [escaped, plain] :
       {std::pair<std::string_view, std::string_view>{"/plain", "/plain"},
        {"/a\\040b\\011\\012\\134", "/a b\t\n\\"},
        {"\\043\\377", "#\xff"},
        {"", ""}}) {
    path_buffer out;
    EXPECT_TRUE(append_unescaped(out, escaped)) << escaped;
    EXPECT_EQ(out.view(), plain);
  }
}

TEST(unescape, rejects_broken_escapes_and_what_does_not_fit) {
  for (const std::string_view escaped :
       {"\\", "/a\\0", "\\04", "\\08x", "\\x20", "\\400", "\\777", "\\000", "\\-12"}) {
    path_buffer out;
    EXPECT_FALSE(append_unescaped(out, escaped)) << escaped;
  }
  path_buffer out;
  EXPECT_TRUE(append_unescaped(out, std::string(path_buffer::kCapacity, 'x')));
  EXPECT_FALSE(append_unescaped(out, "x"));
  EXPECT_FALSE(append_unescaped(out, "\\040"));
  EXPECT_EQ(out.size(), path_buffer::kCapacity);
}

TEST(path_below, takes_the_root_of_the_mount_off) {
  EXPECT_EQ(path_below("/a/b", "/"), "/a/b");
  EXPECT_EQ(path_below("/a/b", "/a"), "/b");
  EXPECT_EQ(path_below("/a/b", "/a/b"), "");
  EXPECT_EQ(path_below("/", "/"), "");
  EXPECT_EQ(path_below("/../x/y", "/.."), "/x/y") << "both outside of the cgroup namespace";
  EXPECT_EQ(path_below("/..a/b..", "/"), "/..a/b..") << "dots are fine in names";
}

TEST(path_below, knows_when_the_mount_does_not_show_the_group) {
  EXPECT_EQ(path_below("/ab", "/a"), std::nullopt);
  EXPECT_EQ(path_below("/", "/a"), std::nullopt);
  EXPECT_EQ(path_below("/a", "/.."), std::nullopt);
  EXPECT_EQ(path_below("/../a", "/"), std::nullopt);
  EXPECT_EQ(path_below("/a/..", "/a"), std::nullopt);
}

TEST(quota, v2) {
  EXPECT_EQ(parse_cpu_max("max 100000\n"), kNoLimit);
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), limit(150000, 100000));
  EXPECT_EQ(parse_cpu_max("1000 1000000"), limit(1000, 1000000));
  for (const std::string_view bad :
       {"", "\n", "max", "max\n", "max max", "MAX 100000", "100000", "100000 ", " 1 2", "1 2 3",
        "1  2", "-1 100000", "1 -1", "0 100000", "1 0", "1.5 100000", "0x10 16",
        "99999999999999999999 1", "1 2\n\n"}) {
    EXPECT_EQ(parse_cpu_max(bad), std::nullopt) << bad;
  }
}

TEST(quota, v1) {
  EXPECT_EQ(parse_cfs("-1\n", "100000\n"), kNoLimit);
  EXPECT_EQ(parse_cfs("50000\n", "100000\n"), limit(50000, 100000));
  for (const auto& [quota, period] : {std::pair<std::string_view, std::string_view>{"", "100000"},
                                      {"max", "100000"},
                                      {"0", "100000"},
                                      {"50000", "0"},
                                      {"50000", ""},
                                      {"50000", "-1"},
                                      {"5 0", "1"},
                                      {"9223372036854775808", "1"}}) {
    EXPECT_EQ(parse_cfs(quota, period), std::nullopt) << quota << " / " << period;
  }
}

TEST(quota, the_smaller_share_is_tighter_whatever_the_period) {
  EXPECT_TRUE(limit(1, 2).is_tighter_than(kNoLimit));
  EXPECT_FALSE(kNoLimit.is_tighter_than(limit(1, 2)));
  EXPECT_FALSE(kNoLimit.is_tighter_than(kNoLimit));
  EXPECT_TRUE(limit(100000, 200000).is_tighter_than(limit(60000, 100000)));
  EXPECT_FALSE(limit(1, 2).is_tighter_than(limit(50, 100)));
  EXPECT_TRUE(limit(1, 1).is_tighter_than(limit(UINT64_MAX, 1)));
}

TEST(cgroup_text, survives_mutated_input) {
  constexpr std::string_view kSeeds[] = {
      "0::/user.slice/app.scope",
      "12:cpuacct,cpu:/docker/1234",
      "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
      "1 2 0:3 /docker/12 /sys/fs/cgroup/cpu\\040x\\134 ro - cgroup cgroup rw,cpuacct,cpu",
      "150000 100000\n",
      "max 100000\n",
      "/a\\040b\\011\\012\\134/../c",
  };
  int naccepted = 0;
  test::for_each_mutation(kSeeds, 100'000, [&](std::string_view input) {
    const auto check_quota = [&](std::optional<cpu_quota> quota) {
      EXPECT_TRUE(!quota || !quota->limited || (quota->quota_us > 0 && quota->period_us > 0))
          << input;
      naccepted += quota.has_value();
    };
    if (const auto group = parse_cgroup_line(input)) {
      ++naccepted;
      EXPECT_TRUE(group->path.starts_with('/')) << input;
      EXPECT_TRUE(input.ends_with(group->path)) << input;
    }
    if (const auto mount = parse_mount_line(input)) {
      ++naccepted;
      EXPECT_NE(input.find(mount->root), input.npos);
      EXPECT_NE(input.find(mount->point), input.npos);
    }
    path_buffer out;
    append_unescaped(out, input);
    EXPECT_LE(out.size(), input.size());
    const std::string_view below = path_below(input, "/a").value_or("");
    EXPECT_TRUE(below.empty() || below.starts_with('/')) << input;
    check_quota(parse_cpu_max(input));
    check_quota(parse_cfs(input, "100000"));
    check_quota(parse_cfs("100000", input));
  });
  EXPECT_GT(naccepted, 1000) << "the mutations should not all be hopeless";
}

}  // namespace
}  // namespace weft::os
