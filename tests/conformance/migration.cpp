// migration.cpp: the forced-migration mode (WEFT_DEBUG=migrate=1) does what it says: every goroutine resumes on another thread
// than it stopped on. The rest of this folder runs in that mode too (ctest label migrate).
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/pressure.hpp"

namespace {

void run_migrating(unsigned nprocs, void (*body)()) {
  const weft::test::debug_setting mode("migrate=1");
  weft::test::run_on(nprocs, body);
}

// Each step of these tests moves a goroutine once: a slice that ends on the way out of it would be a second step, perhaps back.
using single_steps = weft::no_preempt;

void yield_moves() {
  weft::wait_group wg;
  for (int i = 0; i < 3; ++i) {
    wg.go([] {
      const single_steps guard;
      for (int n = 0; n < 30; ++n) {
        const int before = weft::test::thread_id();
        weft::yield();
        ASSERT_NE(weft::test::thread_id(), before) << "after yield " << n;
      }
    });
  }
  wg.wait();
}
TEST(migration, every_yield_resumes_on_another_thread_on_1_p) { run_migrating(1, yield_moves); }
TEST(migration, every_yield_resumes_on_another_thread_on_2_ps) { run_migrating(2, yield_moves); }
TEST(migration, every_yield_resumes_on_another_thread_on_4_ps) { run_migrating(4, yield_moves); }

void wait_moves() {
  const single_steps guard;
  for (int n = 0; n < 30; ++n) {
    const int before = weft::test::thread_id();
    weft::event e;
    weft::go([&e] { e.set(); });
    e.wait();
    ASSERT_TRUE(weft::test::thread_id() != before) << "after wait " << n;
  }
}
// wait() may find the event set, and then has not stopped: on one P it always stops.
TEST(migration, every_wait_resumes_on_another_thread_on_1_p) { run_migrating(1, wait_moves); }

void locked_stays() {
  weft::spawn([] {
    weft::lock_os_thread();
    const int tid = weft::test::thread_id();
    for (int n = 0; n < 20; ++n) {
      weft::yield();
      ASSERT_EQ(weft::test::thread_id(), tid);
      weft::spawn([] { weft::yield(); }).join();
      ASSERT_EQ(weft::test::thread_id(), tid);
      weft::blocking([] {});
      ASSERT_EQ(weft::test::thread_id(), tid);
    }
    weft::unlock_os_thread();
    const single_steps guard;
    weft::yield();
    EXPECT_NE(weft::test::thread_id(), tid);
  }).join();
}
TEST(migration, a_locked_goroutine_stays_nevertheless_on_1_p) { run_migrating(1, locked_stays); }
TEST(migration, a_locked_goroutine_stays_nevertheless_on_2_ps) { run_migrating(2, locked_stays); }

void blocking_stays() {
  for (int n = 0; n < 30; ++n) {
    int inside = 0;
    weft::blocking([&] { inside = weft::test::thread_id(); });
    ASSERT_EQ(weft::test::thread_id(), inside);
    weft::yield();
  }
}
TEST(migration, blocking_returns_on_the_thread_that_ran_it_on_1_p) {
  run_migrating(1, blocking_stays);
}
TEST(migration, blocking_returns_on_the_thread_that_ran_it_on_2_ps) {
  run_migrating(2, blocking_stays);
}

// HAZARD 45 where it hurts: every step of handling an exception on another thread.
void exceptions_move() {
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([i] {
      const single_steps guard;
      for (int n = 0; n < 10; ++n) {
        try {
          struct parks {
            ~parks() { weft::yield(); }
          } p;
          throw i;
        } catch (int caught) {
          const int before = weft::test::thread_id();
          weft::yield();
          EXPECT_NE(weft::test::thread_id(), before);
          ASSERT_EQ(caught, i);
          try {
            weft::yield();
            throw;
          } catch (int again) {
            weft::yield();
            ASSERT_EQ(again, i);
          }
        }
        ASSERT_EQ(std::uncaught_exceptions(), 0);
      }
    });
  }
  wg.wait();
}
TEST(migration, exceptions_survive_a_move_at_every_step_on_1_p) {
  run_migrating(1, exceptions_move);
}
TEST(migration, exceptions_survive_a_move_at_every_step_on_2_ps) {
  run_migrating(2, exceptions_move);
}

TEST(migration, is_off_unless_asked_for) {
  if (weft::test::is_migrating()) GTEST_SKIP();
  weft::test::run_on(1, [] {
    const int tid = weft::test::thread_id();
    for (int n = 0; n < 20; ++n) weft::spawn([] { weft::yield(); }).join();
    EXPECT_EQ(weft::test::thread_id(), tid);
  });
}

}  // namespace
