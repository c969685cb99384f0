// world_test.cpp: stopping the world by hand, and making Ps from several threads at once.
#include "sched/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "sched/queues.hpp"
#include "support/for_procs.hpp"

namespace weft::sched {
namespace {

using namespace std::chrono_literals;

// Nobody has looked round while the world stood still, so it is the start that must find a thread for every P with work. All
// twenty goroutines wait for one another without a call into weft: each holds a P, so one P forgotten is one missing.
TEST(world, every_one_of_20_ps_with_queued_work_runs_after_a_stop) {
  constexpr std::uint32_t kProcs = 20;
  weft::runtime rt({.max_procs = kProcs});
  std::atomic<std::uint32_t> nhere{0};
  weft::wait_group all;

  sched.world_lock.lock();
  stop_world();
  for (std::uint32_t i = 0; i < kProcs; ++i) {
    all.go([&] {
      ++nhere;
      const auto limit = std::chrono::steady_clock::now() + 10s;  // to end a hang
      while (nhere < kProcs && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    });
  }
  std::uint32_t nmoved = 0;
  {
    locked l;
    for (; nmoved < kProcs; ++nmoved) {
      G* const gp = sched.runq.pop_front();
      if (gp == nullptr) break;
      put_local(p_at(nmoved), gp);
    }
    sched.nrunq.store(0);
  }
  start_world();
  sched.world_lock.unlock();

  all.wait();
  EXPECT_EQ(nmoved, kProcs);
  EXPECT_EQ(nhere, kProcs);
}

// sysmon may have read the machine's limit just before the user said a number.
TEST(world, the_machines_limit_does_not_override_what_the_user_said) {
  weft::runtime rt({.max_procs = 3});
  EXPECT_EQ(resize(5, false), 3u);
  EXPECT_EQ(weft::max_procs(), 3u);
  EXPECT_EQ(resize(4, true), 3u);
  EXPECT_EQ(resize(5, false), 4u);
  EXPECT_EQ(weft::max_procs(), 4u);
}

// Ps are made once in the life of a process, so each round makes some that no round before it has made.
class world_race : public testing::Test {
 protected:
  static constexpr unsigned kStep = 3;
  static unsigned next_size() {
    static unsigned n = 8;
    return n = n < 1000 ? n + kStep : 8;  // repeated often in one process, they have all been made
  }
  // What a thread has seen of them, to be compared when all is over: one made twice has changed.
  static void remember(std::vector<P*>& seen, std::size_t n) {
    for (std::size_t i = seen.size(); i < n; ++i)
      seen.push_back(p_at(static_cast<std::uint32_t>(i)));
  }
  static void expect_unchanged(const std::vector<P*>& seen) {
    for (std::uint32_t i = 0; i < seen.size(); ++i) {
      ASSERT_EQ(seen[i], p_at(i)) << "P " << i << " was made twice";
      ASSERT_NE(seen[i], nullptr);
      ASSERT_EQ(seen[i]->id, i);
    }
  }
};

TEST_F(world_race, two_resizes_at_once_make_each_p_once) {
  weft::runtime rt({.max_procs = 2});
  for (int round = 0; round < weft::test::scaled(60); ++round) {
    const unsigned n = next_size();
    std::atomic<int> nready{0};
    std::vector<P*> seen[2];
    const auto grow = [&](std::vector<P*>& mine) {
      ++nready;
      while (nready < 2) std::this_thread::yield();
      weft::max_procs(n);
      remember(mine, n);
    };
    std::thread other([&] { grow(seen[1]); });
    grow(seen[0]);
    other.join();
    EXPECT_EQ(weft::max_procs(), n);
    expect_unchanged(seen[0]);
    expect_unchanged(seen[1]);
  }
}

// Each runtime tells the resizers of the next one's size only when it is about to end: a resize that has to wait for its turn comes late,
// and meets the start that makes the same Ps.
TEST_F(world_race, a_start_and_resizes_that_come_late_make_each_p_once) {
  constexpr std::size_t kResizers = 3;
  std::atomic<unsigned> size{2};
  std::atomic<bool> is_over{false};
  std::vector<P*> seen[kResizers];
  std::vector<std::thread> resizers;
  for (auto& mine : seen) {
    resizers.emplace_back([&] {
      while (!is_over) {
        const unsigned n = size;
        try {
          EXPECT_NE(weft::max_procs(n), 0u);
          remember(mine, n);
        } catch (const weft::not_running&) {
          std::this_thread::yield();
        }
      }
    });
  }
  std::vector<P*> seen_inside;
  for (int round = 0; round < weft::test::scaled(150); ++round) {
    const unsigned n = size;
    weft::test::run_on(n, [&] {
      remember(seen_inside, n);
      weft::yield();
      size = next_size();
    });
  }
  is_over = true;
  for (auto& t : resizers) t.join();
  expect_unchanged(seen_inside);
  for (const auto& each : seen) expect_unchanged(each);
}

}  // namespace
}  // namespace weft::sched
