// internal.cpp: the runtime's own checks (most only in builds with WEFT_DEBUG_CHECKS). But for the last one no runtime and no other thread:
// the locks are free.
#include <chrono>
#include <thread>

#include <weft/weft.hpp>

#include "os/lock.hpp"
#include "sched/crash.hpp"
#include "sched/procs.hpp"
#include "sched/world.hpp"

#include "scenario.hpp"
#include "support/forgotten.hpp"

namespace {

using namespace weft::sched;

using weft::os::lock;
using weft::os::lock_guard;
using weft::os::lock_rank;

P one_p;
M one_m;

void expect_fatal(void (*f)()) {
  install_crash_handlers();
  f();
  scenario::say("nobody minded");
}

void without_the_lock(void (*f)()) { expect_fatal(f); }

lock<lock_rank::scheduler> of_scheduler;
lock<lock_rank::slab> of_slab;
lock<lock_rank::stacks> of_stacks;
lock<lock_rank::waiters> of_waiters[2];
lock<lock_rank::channel> of_channel[2];

}  // namespace

SCENARIO(unlocked_put_idle) {
  without_the_lock([] { put_idle_locked(&one_p); });
}

SCENARIO(unlocked_take_idle) {
  without_the_lock([] { take_idle_locked(); });
}

SCENARIO(unlocked_take_idle_spinning) {
  without_the_lock([] { take_idle_spinning_locked(); });
}

SCENARIO(unlocked_attach) {
  without_the_lock([] { attach_locked(&one_p, &one_m); });
}

SCENARIO(unlocked_start) {
  without_the_lock([] { start_locked(&one_p, false); });
}

SCENARIO(unlocked_wake_one) {
  without_the_lock([] { wake_one_locked(); });
}

SCENARIO(unlocked_count_stopped) {
  without_the_lock([] { count_stopped_locked(&one_p); });
}

SCENARIO(unlocked_mark_alone) {
  without_the_lock([] { mark_alone_locked(); });
}

SCENARIO(unlocked_new_m) {
  without_the_lock([] { new_m_locked(); });
}

SCENARIO(unlocked_free_m) {
  without_the_lock([] { free_m_locked(&one_m); });
}

SCENARIO(locks_upwards) {
  expect_fatal([] {
    const lock_guard first(of_stacks);
    const lock_guard second(of_scheduler);
  });
}

SCENARIO(locks_the_same_rank_twice) {
  expect_fatal([] {
    const lock_guard first(of_waiters[0]);
    const lock_guard second(of_waiters[1]);
  });
}

SCENARIO(locks_channels_against_their_addresses) {
  expect_fatal([] {
    const lock_guard first(of_channel[1]);
    const lock_guard second(of_channel[0]);
  });
}

SCENARIO(locks_upwards_after_try_lock) {
  expect_fatal([] {
    if (!of_slab.try_lock()) return;
    const lock_guard second(of_scheduler);
  });
}

SCENARIO(frees_a_lock_it_does_not_hold) {
  expect_fatal([] { of_slab.unlock(); });
}

SCENARIO(locks_where_it_may_be_stopped) {
  weft::run([] {
    const lock_guard hold(of_waiters[0]);
    scenario::say("nobody minded");
  });
}

// Somebody is queued and nobody is told.
SCENARIO(a_lost_wake_up) {
  weft::runtime rt({.max_procs = 2});
  G* const gp = weft::test::catch_one([] { weft::go([] { scenario::say("it ran"); }); });
  while (weft::stats().idle_procs != 2) std::this_thread::yield();
  weft::test::forget(gp);
  std::this_thread::sleep_for(std::chrono::seconds(3));  // fatal before that, or made good
}
