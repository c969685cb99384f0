// controls_test.cpp: what would be seen if weft's handler did what it must not (HAZARDS 40 and 42).
//
// tests/stress and tests/conformance let goroutines be stopped in the middle of work that checks itself, and all its results are right. Here
// the same work meets handlers that are wrong on purpose (spoiler.cpp): if these were right as well, the work would show nothing.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/child_process.hpp"

namespace {

using namespace std::chrono_literals;
using weft::test::child_end;
using weft::test::exited;
using weft::test::said;

struct trial {
  const char* work;
  const char* handler;
};

std::string name_of(const testing::TestParamInfo<trial>& info) {
  return std::string(info.param.work) + "_beside_" + info.param.handler;
}

child_end run_spoiler(const trial& what) {
  auto command = weft::test::words_of(WEFT_TEST_EMULATOR);
  command.insert(command.end(), {WEFT_SPOILER, what.work, what.handler});
  return weft::test::run_child({.command = command, .limit = 25s});
}

class good_handler : public testing::TestWithParam<trial> {};

TEST_P(good_handler, spoils_nothing) {
  const child_end ended = run_spoiler(GetParam());
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_TRUE(said(ended.out, "0 of "));
}

// To go on with another context is no fault in itself: where the code is nobody else's, every result is right.
constexpr trial kGood[] = {
    {"malloc", "nothing"},   {"throw", "nothing"},   {"errno", "nothing"}, {"compute", "switch"},
#if defined(__x86_64__)
    {"red_zone", "nothing"}, {"red_zone", "switch"},
#endif
};
INSTANTIATE_TEST_SUITE_P(, good_handler, testing::ValuesIn(kGood), &name_of);

class bad_handler : public testing::TestWithParam<trial> {};

TEST_P(bad_handler, is_seen) {
  const child_end ended = run_spoiler(GetParam());
  // Wrong results, or it died of them, or it waits for a lock for ever.
  EXPECT_FALSE(exited(ended, 0));
  EXPECT_FALSE(exited(ended, 3)) << "was it called wrongly?";
  EXPECT_FALSE(exited(ended, 127));
}

constexpr trial kBad[] = {
    {"malloc", "switch"},     {"throw", "switch"},   {"errno", "errno"},
#if defined(__x86_64__)
    {"red_zone", "red_zone"}, {"red_zone", "flags"},
#endif
};
INSTANTIATE_TEST_SUITE_P(, bad_handler, testing::ValuesIn(kBad), &name_of);

#if defined(__x86_64__)
TEST(vector_registers, are_seen_when_they_are_spoilt) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_TRUE(exited(run_spoiler({"vectors", "nothing"}), 0));
  EXPECT_FALSE(exited(run_spoiler({"vectors", "vectors"}), 0));
}
#endif

}  // namespace
