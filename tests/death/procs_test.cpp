// procs_test.cpp: what must not depend on the number of Ps: waits for ever (B155, B179) and misuse (B277, B291), on 1, 2 and 4 of them.
#include <string>

#include "death.hpp"

namespace weft::test {
namespace {

template <class F>
void for_1_2_and_4_ps(F expect) {
  for (const char* nprocs : {"1", "2", "4"}) {
    SCOPED_TRACE("WEFT_MAXPROCS=" + std::string(nprocs));
    expect(environment{{"WEFT_MAXPROCS", nprocs}});
  }
}

void expect_asleep_for_ever(const char* name, const std::string& reason, const environment& env) {
  const child_end ended = scenario(name, env);
  EXPECT_TRUE(exited(ended, 2)) << name;
  EXPECT_TRUE(said(ended.err, "fatal error: all goroutines are asleep - deadlock!\n")) << name;
  EXPECT_TRUE(said(ended.err, "goroutine 1 [" + reason + "]:\n")) << name;
  EXPECT_EQ(count_of(ended.err, "fatal error"), 1) << name;
  EXPECT_EQ(ended.out, "") << name;
}

TEST(for_ever_on_any_number_of_ps, are_waits_at_no_channel) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  for_1_2_and_4_ps([](const environment& env) {
    expect_asleep_for_ever("nothing_to_receive_from", "chan receive (nil chan)", env);
    expect_asleep_for_ever("nothing_to_send_to", "chan send (nil chan)", env);
  });
}

TEST(for_ever_on_any_number_of_ps, are_selects_without_a_choice) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  for_1_2_and_4_ps([](const environment& env) {
    expect_asleep_for_ever("nothing_to_choose_from", "select (no cases)", env);
    expect_asleep_for_ever("nothing_but_nil_to_choose_from", "select (no cases)", env);
  });
}

TEST(for_ever_on_any_number_of_ps, are_many_while_others_come_and_go) {
  SKIP_WITHOUT_DEADLOCK_REPORT();
  for_1_2_and_4_ps([](const environment& env) {
    const child_end ended = scenario("nothing_for_many", env);
    EXPECT_TRUE(exited(ended, 2));
    EXPECT_EQ(ended.out, "others ran\n");
    EXPECT_EQ(count_of("\n" + ended.err, "\ngoroutine "), 41);
    EXPECT_EQ(count_of(ended.err, "[chan receive (nil chan)]:"), 11);
    EXPECT_EQ(count_of(ended.err, "[chan send (nil chan)]:"), 10);
    EXPECT_EQ(count_of(ended.err, "[select (no cases)]:"), 20);
  });
}

TEST(misuse_on_any_number_of_ps, is_named_with_the_culprit) {
  const std::string culprit = " by goroutine [0-9]+ \"culprit\" \\(made at ";
  const struct {
    const char* name;
    const char* message;
  } all[] = {
      {"mutex_unlock_of_unlocked", "unlock of unlocked mutex"},
      {"shared_mutex_unlock_of_unlocked", "unlock of unlocked shared_mutex"},
      {"shared_mutex_unlock_shared_of_unlocked", "unlock_shared of unlocked shared_mutex"},
      {"recursive_mutex_unlocked_by_a_stranger", "unlock of a recursive_mutex that is not held"},
      {"semaphore_released_too_often", "semaphore released more than held"},
      {"wait_group_negative", "negative wait_group counter"},
  };
  for_1_2_and_4_ps([&](const environment& env) {
    for (const auto& misuse : all) {
      const child_end ended = scenario(misuse.name, env);
      EXPECT_TRUE(exited(ended, 2)) << misuse.name;
      EXPECT_TRUE(said_like(ended.err, "^fatal error: weft: " + (misuse.message + culprit)))
          << misuse.name;
      EXPECT_EQ(count_of(ended.err, "fatal error"), 1) << misuse.name;
    }
  });
}

}  // namespace
}  // namespace weft::test
