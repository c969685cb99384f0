// timers_test.cpp: who watches the timers while one who did fires what is due.
#include "sched/timers.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "sched/state.hpp"

namespace weft::sched {
namespace {

// No runtime runs: what is written here is put back.
class firing : public ::testing::Test {
 protected:
  firing() {
    sched.watcher = mp_.get();
    sched.watch_until.store(kDue);
  }
  ~firing() override {
    sched.watcher = nullptr;
    sched.watch_until.store(kNever);
  }
  M* mp() { return mp_.get(); }

  void begin() {
    locked l;
    begin_firing_locked(mp());
  }
  void end() {
    locked l;
    end_firing_locked(mp());
  }

  static constexpr std::int64_t kDue = 1000;

 private:
  std::unique_ptr<M> mp_ = std::make_unique<M>();
};

// Who arms a timer compares it with watch_until: were it kNever, each one armed meanwhile would call another thread, which would find the
// time come at once, and call for the next.
TEST_F(firing, calls_nobody_else_to_watch) {
  begin();
  EXPECT_EQ(sched.watch_until.load(), kDue);
  EXPECT_EQ(sched.watcher, nullptr) << "it is awake: nobody may wake it as one who sleeps";
  {
    locked l;
    M other;
    EXPECT_FALSE(become_watcher_locked(&other, kDue)) << "what is due is seen to";
  }
}

TEST_F(firing, leaves_the_place_when_it_is_over_and_what_was_armed_meanwhile_to_itself) {
  begin();
  end();
  EXPECT_EQ(sched.watch_until.load(), kNever);
  EXPECT_TRUE(mp()->owes_watch);
}

TEST_F(firing, is_no_matter_for_one_who_has_taken_over_for_a_timer_that_was_armed_too_late) {
  begin();
  M other;
  {
    locked l;
    EXPECT_TRUE(become_watcher_locked(&other, kDue - 1));
  }
  end();
  EXPECT_EQ(sched.watcher, &other);
  EXPECT_EQ(sched.watch_until.load(), kDue - 1);
}

TEST_F(firing, is_ended_once) {
  begin();
  end();
  sched.watch_until.store(kDue + 1);
  mp()->owes_watch = false;
  end();
  EXPECT_EQ(sched.watch_until.load(), kDue + 1);
  EXPECT_FALSE(mp()->owes_watch);
}

}  // namespace
}  // namespace weft::sched
