#include "os/cgroup.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>

#include "os/test_support.hpp"

namespace weft::os {
namespace {

constexpr std::string_view kV2Mount = "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
constexpr std::string_view kV1Mounts =
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

class cgroup_limit : public testing::Test {
 protected:
  void process_is(std::string_view cgroup, std::string_view mountinfo) {
    root.write("/proc/self/cgroup", cgroup);
    root.write("/proc/self/mountinfo", mountinfo);
  }
  void v1_quota(std::string_view group, std::string_view quota,
                std::string_view period = "100000\n") {
    const std::string dir = "/sys/fs/cgroup/cpu,cpuacct" + std::string(group);
    root.write(dir + "/cpu.cfs_quota_us", quota);
    root.write(dir + "/cpu.cfs_period_us", period);
  }
  void v2_quota(std::string_view group, std::string_view text) {
    root.write("/sys/fs/cgroup" + std::string(group) + "/cpu.max", text);
  }

  // "100/200", "none" (no limit) or "unknown"; "not found" when there is no group.
  std::string opened() { return limit.open({root.c_str()}) ? read() : "not found"; }
  std::string read() {
    const auto quota = limit.read();
    if (!quota) return "unknown";
    if (!quota->limited) return "none";
    return std::to_string(quota->quota_us) + "/" + std::to_string(quota->period_us);
  }

  test::fake_root root;
  cpu_limit limit;
};

TEST_F(cgroup_limit, v2_own_group) {
  process_is("0::/app\n", kV2Mount);
  v2_quota("/app", "150000 100000\n");
  EXPECT_EQ(opened(), "150000/100000");
}

TEST_F(cgroup_limit, v1_own_group) {
  process_is("3:cpuset:/\n2:cpu,cpuacct:/app\n1:name=systemd:/x\n", kV1Mounts);
  v1_quota("/app", "50000\n");
  v1_quota("", "-1\n");
  EXPECT_EQ(opened(), "50000/100000");
}

TEST_F(cgroup_limit, max_and_minus_one_are_no_limit) {
  process_is("0::/app\n", kV2Mount);
  v2_quota("/app", "max 100000\n");
  EXPECT_EQ(opened(), "none");
  process_is("2:cpu:/app\n", kV1Mounts);
  v1_quota("/app", "-1\n");
  EXPECT_EQ(opened(), "none");
}

TEST_F(cgroup_limit, v2_the_tightest_group_on_the_way_up_rules) {
  process_is("0::/pod/box/app\n", kV2Mount);
  v2_quota("/pod/box/app", "max 100000\n");
  v2_quota("/pod/box", "300000 100000\n");
  v2_quota("/pod", "500000 200000\n");
  v2_quota("/other", "1000 100000\n");
  EXPECT_EQ(opened(), "500000/200000");
  v2_quota("/pod/box/app", "100000 100000\n");
  EXPECT_EQ(read(), "100000/100000");
}

TEST_F(cgroup_limit, v1_the_tightest_group_on_the_way_up_rules) {
  process_is("2:cpu:/pod/box\n", kV1Mounts);
  v1_quota("/pod/box", "400000\n");
  v1_quota("/pod", "150000\n");
  v1_quota("", "-1\n");
  EXPECT_EQ(opened(), "150000/100000");
}

TEST_F(cgroup_limit, the_walk_ends_at_the_mount_point) {
  process_is("0::/app\n", kV2Mount);
  v2_quota("/app", "200000 100000\n");
  root.write("/sys/fs/cpu.max", "1000 100000\n");
  EXPECT_EQ(opened(), "200000/100000");
  process_is("0::/\n", kV2Mount);
  EXPECT_EQ(opened(), "unknown") << "the root of v2 has no cpu.max";
}

TEST_F(cgroup_limit, hybrid_v1_has_the_cpu_controller_and_v2_says_nothing) {
  const std::string mounts = std::string(kV2Mount) + std::string(kV1Mounts);
  v2_quota("/app", "1000 100000\n");
  v1_quota("/app", "300000\n");
  process_is("2:cpu,cpuacct:/app\n0::/app\n", mounts);
  EXPECT_EQ(opened(), "300000/100000");
  process_is("0::/app\n2:cpu,cpuacct:/app\n", mounts);
  EXPECT_EQ(opened(), "300000/100000") << "in whatever order";
  process_is("3:memory:/app\n0::/app\n", mounts);
  EXPECT_EQ(opened(), "1000/100000") << "v1 for other controllers only";
}

TEST_F(cgroup_limit, groups_without_the_file_are_passed_over) {
  process_is("0::/pod/box/app\n", kV2Mount);
  v2_quota("/pod", "200000 100000\n");
  EXPECT_EQ(opened(), "200000/100000");
  v2_quota("/pod/box/app", "100000 100000\n");
  EXPECT_EQ(read(), "100000/100000") << "the controller was turned on later";
}

TEST_F(cgroup_limit, malformed_files_are_passed_over) {
  process_is("0::/pod/app\n", kV2Mount);
  v2_quota("/pod/app", "banana\n");
  EXPECT_EQ(opened(), "unknown");
  v2_quota("/pod", "200000 100000\n");
  EXPECT_EQ(opened(), "200000/100000");
  v2_quota("/pod/app", std::string(5000, '1'));
  EXPECT_EQ(opened(), "200000/100000");
}

TEST_F(cgroup_limit, a_container_sees_its_group_as_the_root_of_the_mount) {
  process_is("2:cpu:/docker/12\n",
             "32 31 0:29 /docker/12 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu\n");
  v1_quota("", "250000\n");
  EXPECT_EQ(opened(), "250000/100000");
  process_is("2:cpu:/docker/123\n",
             "32 31 0:29 /docker/12 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu\n");
  EXPECT_EQ(opened(), "not found");
}

TEST_F(cgroup_limit, of_several_mounts_the_one_that_reaches_highest_is_taken) {
  const std::string narrow = "40 1 0:30 /pod/app /narrow rw - cgroup2 cgroup2 rw\n";
  root.write("/narrow/cpu.max", "400000 100000\n");
  v2_quota("/pod/app", "400000 100000\n");
  v2_quota("/pod", "200000 100000\n");
  for (const std::string& mounts :
       {narrow + std::string(kV2Mount), std::string(kV2Mount) + narrow}) {
    process_is("0::/pod/app\n", mounts);
    EXPECT_EQ(opened(), "200000/100000");
  }
}

TEST_F(cgroup_limit, mount_paths_are_unescaped) {
  process_is("0::/a b\n", "35 24 0:30 / /my\\040mount\\134 rw - cgroup2 cgroup2 rw\n");
  root.write("/my mount\\/a b/cpu.max", "150000 100000\n");
  EXPECT_EQ(opened(), "150000/100000");
  process_is("0::/a b\n", "35 24 0:30 / /my\\04 rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(opened(), "not found");
}

TEST_F(cgroup_limit, malformed_and_very_long_lines_are_skipped) {
  const std::string lowerdirs =
      "9 1 0:9 / /o rw - overlay overlay rw,lowerdir=" + std::string(20'000, 'l') + "\n";
  process_is("rubbish\n:::\n7:cpuset:/" + std::string(9'000, 'x') + "\n0::/app\n",
             "rubbish\n" + lowerdirs + "1 2 - cgroup2\n" + std::string(kV2Mount) + lowerdirs);
  v2_quota("/app", "150000 100000\n");
  EXPECT_EQ(opened(), "150000/100000");
}

TEST_F(cgroup_limit, a_path_that_is_too_long_is_not_found) {
  process_is("0::/" + std::string(4'080, 'x') + "\n", kV2Mount);
  EXPECT_EQ(opened(), "not found");
}

TEST_F(cgroup_limit, missing_files) {
  EXPECT_EQ(opened(), "not found");
  EXPECT_EQ(read(), "unknown");
  root.write("/proc/self/cgroup", "0::/app\n");
  EXPECT_EQ(opened(), "not found");
  root.write("/proc/self/mountinfo", kV2Mount);
  EXPECT_EQ(opened(), "unknown");
}

TEST_F(cgroup_limit, follows_a_limit_that_changes) {
  process_is("2:cpu:/app\n", kV1Mounts);
  v1_quota("/app", "-1\n");
  EXPECT_EQ(opened(), "none");
  v1_quota("/app", "200000\n");
  EXPECT_EQ(read(), "200000/100000");
  v1_quota("/app", "-1\n");
  EXPECT_EQ(read(), "none");
}

TEST_F(cgroup_limit, is_found_anew_after_the_group_was_removed) {
  process_is("0::/slice/old\n", kV2Mount);
  v2_quota("/slice", "max 100000\n");
  v2_quota("/slice/old", "200000 100000\n");
  EXPECT_EQ(opened(), "200000/100000");
  process_is("0::/new\n", kV2Mount);
  v2_quota("/new", "300000 100000\n");
  root.remove("/sys/fs/cgroup/slice/old");
  EXPECT_EQ(read(), "300000/100000");
}

TEST_F(cgroup_limit, is_not_forgotten_while_it_cannot_be_read) {
  process_is("0::/app\n", kV2Mount);
  v2_quota("/app", "200000 100000\n");
  EXPECT_EQ(opened(), "200000/100000");

  rlimit old{};  // no more descriptors
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const rlimit none{0, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string meanwhile = read();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(meanwhile, "unknown");
  EXPECT_EQ(read(), "200000/100000");

  root.remove("/sys/fs/cgroup/app");  // gone, but nobody says where the process is now
  root.remove("/proc/self/cgroup");
  EXPECT_EQ(read(), "unknown");
  process_is("0::/without-the-file\n", kV2Mount);
  EXPECT_EQ(read(), "unknown");
  process_is("0::/new\n", kV2Mount);
  v2_quota("/new", "300000 100000\n");
  EXPECT_EQ(read(), "300000/100000");
}

TEST_F(cgroup_limit, survives_mutated_files) {
  const std::string_view seeds[] = {"3:cpuset:/\n2:cpu,cpuacct:/a/b\n0::/c\n", kV1Mounts, kV2Mount};
  v1_quota("/a", "100000\n");
  v2_quota("/a", "100000 100000\n");
  const auto put = [](const std::string& path, std::string_view content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  };
  process_is(seeds[0], kV1Mounts);
  const std::string cgroup = root.at("/proc/self/cgroup"),
                    mountinfo = root.at("/proc/self/mountinfo");
  bool turn = false;
  test::for_each_mutation(seeds, 1'000, [&](std::string_view input) {
    turn = !turn;
    put(turn ? cgroup : mountinfo, input);
    if (limit.open({root.c_str()})) limit.read();
  });
}

}  // namespace
}  // namespace weft::os
