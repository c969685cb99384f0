// conserve_test.cpp: a wake-up that was lost is found, wherever the goroutine was left; and what is not lost is not taken for it.
#include "sched/conserve.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/forgotten.hpp"

namespace weft::sched {
namespace {

using namespace std::chrono_literals;

// Tests run with conserve=1, where it is fatal: tests/death has that.
class conserve : public testing::Test {
 protected:
  conserve() {
    if (const char* const was = ::getenv("WEFT_DEBUG")) was_ = was;
    ::setenv("WEFT_DEBUG", (was_ + ",conserve=0").c_str(), 1);
  }
  ~conserve() override { ::setenv("WEFT_DEBUG", was_.c_str(), 1); }

  static std::uint64_t count() { return weft::stats().unconserved; }

  // From a plain thread.
  template <class Condition>
  static bool comes_true(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + 20s;  // to end a hang
    while (!condition()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

 private:
  std::string was_;
};

TEST_F(conserve, what_is_forgotten_in_the_global_queue_is_found_and_made_good) {
  weft::runtime rt({.max_procs = 2});
  const std::uint64_t before = count();
  std::atomic<bool> has_run{false};
  G* const gp = test::catch_one([&] { weft::go([&] { has_run = true; }); });
  ASSERT_NE(gp, nullptr);
  ASSERT_TRUE(comes_true([] { return weft::stats().idle_procs == 2; }));
  test::forget(gp);
  EXPECT_TRUE(comes_true([&] { return has_run.load(); }));
  EXPECT_EQ(count(), before + 1);
}

// Whoever puts one into a ring may be overheard (README.md, [idle.no_lost_wake] 4): sysmon makes that good as a matter of course.
TEST_F(conserve, what_is_overheard_at_a_busy_processor_is_seen_to_before_it_counts_as_lost) {
  weft::runtime rt({.max_procs = 2});
  const std::uint64_t before = count();
  std::atomic<bool> is_busy{false};
  std::atomic<bool> stop{false};
  std::atomic<bool> has_run{false};
  weft::wait_group all;
  G* const gp = test::catch_one([&] { weft::go([&] { has_run = true; }); });
  ASSERT_NE(gp, nullptr);
  all.go([&] {
    const weft::no_preempt mine;  // or the end of its slice would make it good
    is_busy = true;
    while (!stop.load(std::memory_order_relaxed)) asm volatile("");
  });
  ASSERT_TRUE(comes_true([&] { return is_busy && weft::stats().idle_procs == 1; }));
  P* busy = nullptr;
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (p_at(i)->m.load() != nullptr) busy = p_at(i);
  }
  ASSERT_NE(busy, nullptr);
  busy->queue.push(gp);  // only its holder may; and that one makes no call
  EXPECT_TRUE(comes_true([&] { return has_run.load(); }));
  EXPECT_EQ(count(), before);
  stop = true;
  all.wait();
}

// Each time one readies the other and waits, its wake-up is left out: there is always somebody at the front, and the other P rests.
TEST_F(conserve, a_wake_up_that_is_left_out_on_purpose_is_not_a_lost_one) {
  weft::runtime rt({.max_procs = 2});
  const std::uint64_t before = count();
  auto ping = weft::make_chan<int>();
  auto pong = weft::make_chan<int>();
  weft::wait_group all;
  std::atomic<bool> stop{false};
  all.go([&] {
    while (ping.recv()) pong.send(0);
  });
  all.go([&] {
    while (!stop) {
      ping.send(0);
      pong.recv();
    }
    ping.close();
  });
  std::this_thread::sleep_for(200ms);
  stop = true;
  all.wait();
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace weft::sched
