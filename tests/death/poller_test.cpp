// poller_test.cpp: io_uring is there for those who ask for it; where it cannot be had a line says why, and epoll does the work.
#include "death.hpp"

namespace weft::test {
namespace {

constexpr const char* kForbidden =
    "weft: poller=uring: io_uring is forbidden (kernel.io_uring_disabled, or a seccomp filter) "
    "(errno=1); epoll is used\n";
constexpr const char* kNone =
    "weft: poller=uring: this kernel has no io_uring (errno=38); epoll is used\n";

bool has_uring() { return scenario("uring_and_epoll_by_turns").err.empty(); }

// seccomp is the machine's, and an emulator does not play it.
#define SKIP_WHEN_EMULATED() \
  if (kIsEmulated) GTEST_SKIP() << "there is no seccomp under the emulator"

TEST(uring, that_the_kernel_does_not_have_costs_one_line) {
  SKIP_WHEN_EMULATED();
  const child_end ended = scenario("uring_where_the_kernel_has_none");
  EXPECT_TRUE(exited(ended, 0)) << ended.err;
  EXPECT_EQ(ended.err, kNone);
  EXPECT_EQ(ended.out, "epoll: hello\n");
}

TEST(uring, that_is_forbidden_costs_one_line) {
  SKIP_WHEN_EMULATED();
  const child_end ended = scenario("uring_where_it_is_forbidden", {{"WEFT_DEBUG", "poller=uring"}});
  EXPECT_TRUE(exited(ended, 0)) << ended.err;
  EXPECT_EQ(ended.err, kForbidden);
  EXPECT_EQ(ended.out, "epoll: hello\n");
}

TEST(uring, that_nobody_asked_for_costs_nothing) {
  SKIP_WHEN_EMULATED();
  const child_end ended = scenario("uring_where_it_is_forbidden");
  EXPECT_TRUE(exited(ended, 0)) << ended.err;
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(ended.out, "epoll: hello\n");
}

TEST(uring, and_epoll_by_turns_lose_nothing_of_what_is_open_over_several_runs) {
  if (!has_uring()) GTEST_SKIP() << "there is no io_uring";
  const child_end ended = scenario("uring_and_epoll_by_turns");
  EXPECT_TRUE(exited(ended, 0)) << ended.err;
  EXPECT_EQ(ended.out, "epoll\nuring\nepoll\nuring\n");
}

}  // namespace
}  // namespace weft::test
