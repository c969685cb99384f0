// stats.cpp: stats(): counters never fall, gauges are right when all is quiet (HAZARD 13).
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// Every counter that must not fall, with its name.
std::vector<std::pair<const char*, std::uint64_t>> counters(const weft::runtime_stats& s) {
  return {{"started", s.started},
          {"switches", s.switches},
          {"direct_switches", s.direct_switches},
          {"steals", s.steals},
          {"wakeups", s.wakeups},
          {"handoffs", s.handoffs},
          {"world_stops", s.world_stops},
          {"threads_created", s.threads_created},
          {"stacks", s.stacks}};
}

TEST_FOR_PROCS(stats, counters_never_fall) {
  std::atomic<bool> stop{false};
  std::thread observer([&] {
    auto last = counters(weft::stats());
    while (!stop) {
      const auto now = counters(weft::stats());
      for (std::size_t i = 0; i < now.size(); ++i)
        EXPECT_GE(now[i].second, last[i].second) << now[i].first;
      last = now;
    }
  });
  weft::wait_group wg;
  for (int g = 0; g < 4; ++g) {
    wg.go([] {
      for (int i = 0; i < weft::test::scaled(200); ++i) {
        weft::spawn([] { weft::yield(); }).join();
        if (i % 20 == 0) weft::blocking([] { std::this_thread::yield(); });
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(20); ++i)
    weft::max_procs(1 + static_cast<unsigned>(i % 4));
  wg.wait();
  stop = true;
  weft::blocking([&] { observer.join(); });
}

TEST_FOR_PROCS(stats, what_was_done_is_counted) {
  const auto before = weft::stats();
  for (int i = 0; i < 100; ++i) weft::spawn([] {}).join();
  const auto after = weft::stats();
  EXPECT_EQ(after.started - before.started, 100u);
  EXPECT_GE(after.switches - before.switches, 100u);
  EXPECT_LE(after.direct_switches, after.switches);
  EXPECT_EQ(after.max_procs, weft::max_procs());
  EXPECT_GE(after.threads, 1u);
  EXPECT_GE(after.stacks, 1u);
  EXPECT_TRUE(std::string(after.stack_guard) == "madvise" ||
              std::string(after.stack_guard) == "mprotect")
      << after.stack_guard;
  EXPECT_TRUE(std::string(after.poller) == "epoll" || std::string(after.poller) == "uring")
      << after.poller;
  const unsigned n = weft::max_procs();
  weft::max_procs(n + 1);
  EXPECT_GT(weft::stats().world_stops, after.world_stops);
}

// Everything that can put a gauge wrong, then quiet, then the audit, from outside.
void audit_when_quiet(unsigned nprocs) {
  weft::runtime rt({.max_procs = nprocs});
  const auto before = weft::stats();
  {
    weft::wait_group wg;
    for (int g = 0; g < 8; ++g) {
      wg.go([g] {
        for (int i = 0; i < weft::test::scaled(100); ++i) {
          weft::blocking([] { std::this_thread::yield(); });
          weft::spawn([] { weft::yield(); }).join();
          if (i % 10 == g) {
            weft::lock_os_thread();
            weft::yield();
            weft::unlock_os_thread();
          }
        }
        if (g == 0) weft::lock_os_thread();
      });
    }
    for (int i = 0; i < 10; ++i) weft::max_procs(1 + static_cast<unsigned>(i % 4));
    weft::max_procs(nprocs);
    wg.wait();
  }
  constexpr std::size_t kParked = 25;
  weft::event parked;
  for (std::size_t i = 0; i < kParked; ++i) weft::go([&] { parked.wait(); });
  const auto is_quiet = [&] {
    const auto s = weft::stats();
    return s.idle_procs == nprocs && s.spinning_threads == 0 && s.goroutines == kParked;
  };
  EXPECT_TRUE(weft::test::eventually(is_quiet));
  const auto s = weft::stats();
  EXPECT_EQ(s.idle_procs, nprocs);
  EXPECT_EQ(s.spinning_threads, 0u);
  EXPECT_EQ(s.goroutines, kParked);
  EXPECT_EQ(weft::num_goroutines(), kParked);
  EXPECT_EQ(s.global_queue, 0u);
  EXPECT_LE(s.idle_threads, s.threads);
  EXPECT_EQ(s.started - before.started,
            8 + 8 * static_cast<std::uint64_t>(weft::test::scaled(100)) + kParked);
  parked.set();
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 0; }));
}

TEST(stats, gauges_are_right_when_all_is_quiet_on_1_p) { audit_when_quiet(1); }
TEST(stats, gauges_are_right_when_all_is_quiet_on_2_ps) { audit_when_quiet(2); }
TEST(stats, gauges_are_right_when_all_is_quiet_on_4_ps) { audit_when_quiet(4); }

TEST(stats, may_be_asked_without_a_runtime) {
  const auto s = weft::stats();
  EXPECT_EQ(s.max_procs, 0u);
  EXPECT_EQ(s.goroutines, 0u);
  weft::run([] {});
  EXPECT_EQ(weft::stats().goroutines, 0u);
  EXPECT_EQ(weft::stats().threads, 0u);
  EXPECT_GE(weft::num_cpu(), 1u);
}

}  // namespace
