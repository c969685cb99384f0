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

TEST(sync_misuse, is_named_with_the_culprit) {
  const std::string culprit = " by goroutine [0-9]+ \"culprit\" \\(made at ";
  expect_misuse("once_inside_itself", "once.call\\(\\) inside its own function" + culprit);
  expect_misuse("shared_mutex_unlock_of_unlocked", "unlock of unlocked shared_mutex" + culprit);
  expect_misuse("shared_mutex_unlock_shared_of_unlocked",
                "unlock_shared of unlocked shared_mutex" + culprit);
  expect_misuse("semaphore_released_too_often", "semaphore released more than held" + culprit);
  expect_misuse("recursive_mutex_unlocked_by_a_stranger",
                "unlock of a recursive_mutex that is not held" + culprit);
  expect_misuse("latch_below_zero", "latch counted down below zero" + culprit);
  expect_misuse("barrier_with_one_too_many", "more arrived at a barrier than it expects" + culprit);
}

TEST(sync_misuse, is_named_elsewhere_too) {
  expect_misuse("semaphore_releases_less_than_nothing",
                "semaphore released more than held by a thread");
  expect_misuse("recursive_mutex_unlocked_once_too_often",
                "unlock of a recursive_mutex that is not held by goroutine 1");
  expect_misuse("latch_with_a_negative_count", "latch with a count out of range by a thread");
  expect_misuse("barrier_with_a_negative_count", "barrier with a count out of range by a thread");
}

// HAZARD 48
TEST(std_mutex, held_across_a_switch_is_reported_by_thread_sanitizer_under_forced_migration) {
  if (!kIsTsan) GTEST_SKIP() << "nobody looks";
  const environment migrating = {{"WEFT_DEBUG", "migrate=1"}};
  const child_end wrong = scenario("std_mutex_held_across_a_yield", migrating, 30s);
  EXPECT_TRUE(said(wrong.err, "ThreadSanitizer: lock-order-inversion (potential deadlock)"));
  EXPECT_FALSE(exited(wrong, 0));
  const child_end right = scenario("mutexes_held_as_they_may_be", migrating, 30s);
  EXPECT_TRUE(exited(right, 0));
  EXPECT_TRUE(said(right.out, "nobody minded"));
  EXPECT_EQ(right.err, "");
}

TEST(sync_deadlock, is_reported_with_what_is_waited_for) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  expect_deadlock_in("deadlock_mutex", "sync.Mutex.Lock");
  expect_deadlock_in("deadlock_shared_mutex_write", "sync.RWMutex.Lock");
  expect_deadlock_in("deadlock_shared_mutex_read", "sync.RWMutex.RLock");
  expect_deadlock_in("deadlock_condition_variable", "sync.Cond.Wait");
  expect_deadlock_in("deadlock_semaphore", "semacquire");
  expect_deadlock_in("deadlock_latch", "latch wait");
  expect_deadlock_in("deadlock_barrier", "barrier wait");
  expect_deadlock_in("deadlock_once", "once call");
}

TEST(sync_objects, outlive_a_runtime_whose_goroutines_wait_at_them) {
  for (const char* name : {"mutex_outlives_its_waiters", "sync_objects_outlive_their_waiters",
                           "a_context_outlives_its_waiters"}) {
    const child_end ended = scenario(name, {}, 8s);
    EXPECT_TRUE(exited(ended, 0)) << name;
    EXPECT_EQ(ended.err, "") << name;
  }
}

}  // namespace
}  // namespace weft::test
