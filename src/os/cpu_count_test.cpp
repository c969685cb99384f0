#include "os/cpu_count.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include <sched.h>

#include "os/test_support.hpp"

namespace weft::os {
namespace {

TEST(cpu_count, counts_the_cpus_of_the_affinity_mask) {
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(online_cpus(), static_cast<unsigned>(CPU_COUNT(&set)));
}

TEST(cpu_count, a_pinned_thread_has_one_cpu) {
  unsigned seen = 0, default_seen = 0;
  std::thread([&] {
    cpu_set_t set, one;
    ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &set)) ++cpu;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    seen = online_cpus();
    default_seen = default_procs();
  }).join();
  EXPECT_EQ(seen, 1U);
  EXPECT_EQ(default_seen, 1U);
}

TEST(procs_for, table) {
  struct {
    const char* what;
    unsigned cpus;
    cpu_quota quota;
    unsigned procs;
  } const cases[] = {
      {"no limit", 8, {}, 8},
      {"a whole number of CPUs", 8, {400'000, 100'000, true}, 4},
      {"fractions round up", 8, {250'001, 100'000, true}, 3},
      {"just two", 8, {200'000, 100'000, true}, 2},
      {"below two becomes two", 8, {150'000, 100'000, true}, 2},
      {"below one becomes two", 8, {1'000, 100'000, true}, 2},
      {"but one CPU stays one", 1, {1'000, 100'000, true}, 1},
      {"above the CPUs", 8, {1'000'000, 100'000, true}, 8},
      {"just the CPUs", 8, {800'000, 100'000, true}, 8},
      {"far above the CPUs", 8, {UINT64_MAX, 1, true}, 8},
      {"no CPU is one", 0, {}, 1},
      {"no CPU is one", 0, {100, 100, true}, 1},
      {"period of nothing", 4, {100, 0, true}, 4},
  };
  for (const auto& c : cases) EXPECT_EQ(procs_for(c.cpus, c.quota), c.procs) << c.what;
}

TEST(default_procs, takes_affinity_and_quota_together) {
  test::fake_root root;
  const cgroup_paths paths{root.c_str()};
  const unsigned cpus = online_cpus();
  EXPECT_EQ(default_procs(paths), cpus) << "no cgroups at all";

  root.write("/proc/self/cgroup", "0::/pod/app\n");
  root.write("/proc/self/mountinfo", "35 24 0:30 / /cg rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(default_procs(paths), cpus) << "no file";
  root.write("/cg/pod/app/cpu.max", "max 100000\n");
  EXPECT_EQ(default_procs(paths), cpus) << "no limit";
  root.write("/cg/pod/app/cpu.max", std::to_string(cpus) + "00001 100000\n");
  EXPECT_EQ(default_procs(paths), cpus) << "more than there is";
  root.write("/cg/pod/cpu.max", "50000 100000\n");
  EXPECT_EQ(default_procs(paths), std::min(cpus, 2U)) << "a tight group above";
}

TEST(default_procs, of_this_machine) {
  EXPECT_GE(default_procs(), 1U);
  EXPECT_LE(default_procs(), online_cpus());
}

}  // namespace
}  // namespace weft::os
