// network_test.cpp: whoever waits for the network can be woken, so there is no deadlock; and when nobody does there is one (B229, B230).
#include "death.hpp"
#include "stack/test_support.hpp"

namespace weft::test {
namespace {

constexpr const char* kAllAsleep = "fatal error: all goroutines are asleep - deadlock!\n";

// Whether it is epoll or io_uring that tells, with its thread.
class network : public testing::TestWithParam<const char*> {
 protected:
  static child_end scenario_here(const std::string& name) {
    return scenario(name, {{"WEFT_DEBUG", std::string("poller=") + GetParam()}});
  }
};
class network_deadlock : public network {};
class network_fork : public network {
 protected:
  void SetUp() override {
    if (stack::test::is_emulated())
      GTEST_SKIP() << "a child of qemu-user that makes threads fails by qemu's own assertions";
  }
};

const auto kBoth = testing::Values("epoll", "uring");
const auto name = [](const auto& kind) { return std::string(kind.param); };
INSTANTIATE_TEST_SUITE_P(poller, network_deadlock, kBoth, name);
INSTANTIATE_TEST_SUITE_P(poller, network_fork, kBoth, name);

void expect_report(const child_end& ended) {
  EXPECT_TRUE(exited(ended, 2));
  EXPECT_TRUE(said(ended.err, kAllAsleep));
  EXPECT_EQ(count_of(ended.err, "fatal error"), 1);
}

TEST_P(network_deadlock, is_not_reported_while_somebody_accepts) {
  const child_end ended = scenario_here("no_deadlock_while_somebody_accepts");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "somebody came\n");
}

TEST_P(network_deadlock, is_not_reported_while_somebody_reads_what_another_process_writes) {
  const child_end ended =
      scenario_here("no_deadlock_while_somebody_reads_what_another_process_writes");
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.out, "it came\n");
}

TEST_P(network_deadlock, is_reported_once_the_listener_is_closed) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario_here("deadlock_after_the_listener_is_closed");
  expect_report(ended);
  EXPECT_EQ(ended.out, "woken\n");
  EXPECT_TRUE(said_like(ended.err, "\"acceptor\" \\[event wait\\]:$"));
}

TEST_P(network_deadlock, is_reported_after_many_waits_of_every_kind) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  const child_end ended = scenario_here("deadlock_after_many_waits_for_the_network");
  expect_report(ended);
  EXPECT_EQ(ended.out, "all came back\n");
}

TEST_P(network_deadlock, is_reported_beside_waits_of_an_earlier_run) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  expect_report(scenario_here("deadlock_beside_waits_of_an_earlier_run"));
}

TEST_P(network_fork, between_two_runs_leaves_parent_and_child_their_own_news) {
  const child_end ended = scenario_here("fork_between_runs_that_use_the_network");
  EXPECT_TRUE(exited(ended, 0)) << ended.err;
  EXPECT_EQ(ended.out, "both came through\n");
}

TEST_P(network_fork, what_was_inherited_can_be_used_and_closed_and_the_parent_keeps_its_own) {
  const child_end ended = scenario_here("fork_between_runs_shares_what_is_open");
  EXPECT_TRUE(exited(ended, 0)) << ended.err;
  EXPECT_EQ(ended.out, "accepted\n");
}

}  // namespace
}  // namespace weft::test
