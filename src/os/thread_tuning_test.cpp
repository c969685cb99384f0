#include "os/thread_tuning.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/thread.hpp"

namespace weft::os {
namespace {

// What a thread is set to stays with it, so each test has one of its own.
template <class Body>
void on_own_thread(Body body) {
  std::thread(body).join();
}

TEST(timer_slack, is_set_for_this_thread_alone) {
  const std::uint64_t mine = timer_slack_ns();
  EXPECT_GT(mine, 0U);
  on_own_thread([] {
    errno = 77;
    EXPECT_TRUE(set_timer_slack_ns(1));
    EXPECT_EQ(timer_slack_ns(), 1U);
    EXPECT_EQ(errno, 77);
  });
  EXPECT_EQ(timer_slack_ns(), mine);
}

TEST(short_slice, is_what_the_kernel_then_says) {
  on_own_thread([] {
    const bool knows_slices = slice_ns() != 0;
    errno = 77;
    const bool is_set = set_short_slice();
    EXPECT_EQ(errno, 77);
    if (!knows_slices) GTEST_SKIP() << "this kernel has no slices of its own per thread";
    EXPECT_TRUE(is_set);
    EXPECT_EQ(slice_ns(), kShortSliceNs);
  });
}

TEST(short_slice, leaves_nice_value_and_reset_on_fork) {
  on_own_thread([] {
    const auto self = static_cast<id_t>(thread_id());
    ASSERT_EQ(::setpriority(PRIO_PROCESS, self, 7), 0);
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none), 0);
    set_short_slice();
    EXPECT_EQ(::getpriority(PRIO_PROCESS, self), 7);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER | SCHED_RESET_ON_FORK);
  });
}

TEST(short_slice, leaves_a_thread_alone_that_somebody_has_set_otherwise) {
  on_own_thread([] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    EXPECT_FALSE(set_short_slice());
    EXPECT_EQ(::sched_getscheduler(0), SCHED_BATCH);
    EXPECT_EQ(slice_ns(), 0U) << "not ours to speak of";
  });
}

}  // namespace
}  // namespace weft::os
