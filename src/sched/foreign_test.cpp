// foreign_test.cpp: how a plain thread waits when its time and its waker come together.
#include "sched/foreign.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "os/clock.hpp"

namespace weft::sched {
namespace {

using namespace std::chrono_literals;

// Of one wait: who waits, and the thread that wakes it when the time is over already.
struct late_wake {
  G* waiter = nullptr;
  std::optional<std::thread> waker;
  std::atomic<bool> has_woken{false};
};

bool remember(G* gp, void* arg) {
  static_cast<late_wake*>(arg)->waiter = gp;
  return true;
}

TEST(park_foreign_until, whose_waker_comes_at_the_last_moment_waits_for_the_wake_up) {
  late_wake w;
  const auto too_late = [](void* arg) {
    auto* const w = static_cast<late_wake*>(arg);
    w->waker.emplace([w] {
      std::this_thread::sleep_for(5ms);
      w->has_woken = true;
      wake_foreign(w->waiter);
    });
    return false;
  };
  park_foreign_until(&remember, &w, os::now_ns() + 1'000'000, too_late, wait_reason::join);
  EXPECT_TRUE(w.has_woken) << "a wake-up was left for the next wait";
  w.waker->join();
  EXPECT_EQ(w.waiter->status(), g_status::running);
}

TEST(park_foreign_until, goes_on_by_itself_when_nobody_comes) {
  late_wake w;
  const std::int64_t end = os::now_ns() + 2'000'000;
  const auto in_time = [](void*) { return true; };
  park_foreign_until(&remember, &w, end, in_time, wait_reason::join);
  EXPECT_GE(os::now_ns(), end);
  EXPECT_EQ(w.waiter->status(), g_status::running);
}

TEST(park_foreign_until, does_not_wait_when_there_is_nothing_to_wait_for) {
  late_wake w;
  const auto come_already = [](G* gp, void* arg) {
    remember(gp, arg);
    return false;
  };
  const auto not_asked = [](void*) {
    ADD_FAILURE() << "nobody waited";
    return true;
  };
  park_foreign_until(come_already, &w, os::now_ns() + 60'000'000'000, not_asked, wait_reason::join);
  EXPECT_EQ(w.waiter->status(), g_status::running);
}

}  // namespace
}  // namespace weft::sched
