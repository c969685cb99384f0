// sync_test.cpp: a synchronisation object that is used wrongly names who did it (B277); a dump names what a goroutine waits for.
#include "death.hpp"

namespace weft::test {
namespace {

void expect_misuse(const char* name, const std::string& message) {
  const child_end ended = scenario(name);
  EXPECT_TRUE(exited(ended, 2)) << name;
  EXPECT_TRUE(said_like(ended.err, "^fatal error: weft: " + message)) << name;
  EXPECT_EQ(count_of(ended.err, "fatal error"), 1) << name;
}

void expect_deadlock_in(const char* name, const std::string& reason) {
  const child_end ended = scenario(name);
  EXPECT_TRUE(exited(ended, 2)) << name;
  EXPECT_TRUE(said(ended.err, "fatal error: all goroutines are asleep - deadlock!\n")) << name;
  EXPECT_TRUE(said(ended.err, "goroutine 1 [" + reason + "]:\n")) << name;
}

TEST(mutex_misuse, unlock_of_an_unlocked_one_names_the_culprit) {
  expect_misuse("mutex_unlock_of_unlocked",
                "unlock of unlocked mutex by goroutine [0-9]+ \"culprit\" \\(made at ");
  expect_misuse("mutex_unlock_of_unlocked_on_a_plain_thread",
                "unlock of unlocked mutex by a thread");
  expect_misuse("timed_mutex_unlock_of_unlocked", "unlock of unlocked mutex by goroutine 1");
}

TEST(sync_deadlock, is_reported_with_what_is_waited_for) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  expect_deadlock_in("deadlock_mutex", "sync.Mutex.Lock");
}

TEST(mutex, outlives_a_runtime_whose_goroutines_wait_at_it) {
  const child_end ended = scenario("mutex_outlives_its_waiters", {}, 8s);
  EXPECT_TRUE(exited(ended, 0));
  EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace weft::test
