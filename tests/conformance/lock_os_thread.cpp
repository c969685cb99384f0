// lock_os_thread.cpp: a goroutine and a thread tied together (B117-B119, B019, B123).
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// Whether a thread of this process has that id.
bool is_alive(int tid) {
  return ::access(("/proc/self/task/" + std::to_string(tid)).c_str(), F_OK) == 0;
}

// B118, first half
TEST_FOR_PROCS(lock_os_thread, a_locked_goroutine_stays_on_its_thread) {
  weft::wait_group wg;
  for (int i = 0; i < 4; ++i) {
    wg.go([] {
      weft::lock_os_thread();
      const int tid = weft::test::thread_id();
      for (int n = 0; n < 100; ++n) {
        weft::yield();
        ASSERT_EQ(weft::test::thread_id(), tid);
        weft::spawn([] {}).join();
        ASSERT_EQ(weft::test::thread_id(), tid);
        weft::blocking([] {});
        ASSERT_EQ(weft::test::thread_id(), tid);
      }
      weft::unlock_os_thread();
    });
  }
  wg.wait();
}

// B118, second half
TEST_FOR_PROCS(lock_os_thread, nobody_else_runs_on_a_locked_thread) {
  std::atomic<bool> stop{false};
  std::atomic<int> locked_tid{0};
  auto locked = weft::spawn([&] {
    weft::lock_os_thread();
    locked_tid = weft::test::thread_id();
    while (!stop) weft::yield();
    weft::unlock_os_thread();
  });
  ASSERT_TRUE(weft::test::eventually([&] { return locked_tid != 0; }));
  weft::wait_group wg;
  for (int i = 0; i < 200; ++i) {
    wg.go([&] {
      for (int n = 0; n < 5; ++n) {
        EXPECT_NE(weft::test::thread_id(), locked_tid.load());
        weft::yield();
      }
    });
  }
  wg.wait();
  stop = true;
  locked.join();
}

// B117
TEST_FOR_PROCS(lock_os_thread, locks_nest_and_an_unlock_too_many_does_nothing) {
  weft::spawn([] {
    weft::unlock_os_thread();
    weft::lock_os_thread();
    weft::lock_os_thread();
    weft::unlock_os_thread();
    const int tid = weft::test::thread_id();  // still locked once
    for (int n = 0; n < 50; ++n) {
      weft::yield();
      ASSERT_EQ(weft::test::thread_id(), tid);
    }
    weft::unlock_os_thread();
    weft::unlock_os_thread();
    weft::lock_os_thread();
    const int again = weft::test::thread_id();
    for (int n = 0; n < 50; ++n) {
      weft::yield();
      ASSERT_EQ(weft::test::thread_id(), again);
    }
    weft::unlock_os_thread();
  }).join();
}

// After the last unlock it may run elsewhere again: its thread is not reserved any more.
TEST(lock_os_thread, after_the_last_unlock_the_thread_runs_others_again) {
  if (weft::test::is_migrating()) GTEST_SKIP();
  weft::test::run_on(1, [] {
    weft::lock_os_thread();
    const int tid = weft::test::thread_id();
    EXPECT_NE(weft::spawn([] { return weft::test::thread_id(); }).join(), tid);
    weft::unlock_os_thread();
    weft::yield();
    std::set<int> tids;
    for (int i = 0; i < 10; ++i) {
      tids.insert(weft::test::thread_id());
      tids.insert(weft::spawn([] { return weft::test::thread_id(); }).join());
    }
    EXPECT_EQ(tids.size(), 1u) << "one P, one thread";
  });
}

// B019
TEST_FOR_PROCS(lock_os_thread, a_locked_goroutine_may_wait_again_and_again) {
  weft::event ping;
  weft::event pong;
  auto h = weft::spawn([&] {
    weft::lock_os_thread();
    const int tid = weft::test::thread_id();
    for (int i = 0; i < 100; ++i) {
      ping.wait();
      ping.reset();
      ASSERT_EQ(weft::test::thread_id(), tid);
      pong.set();
    }
    weft::unlock_os_thread();
  });
  for (int i = 0; i < 100; ++i) {
    ping.set();
    pong.wait();
    pong.reset();
  }
  h.join();
}

// B019, as in Go: at channels, with and without room.
TEST_FOR_PROCS(lock_os_thread, a_locked_goroutine_may_wait_at_channels_again_and_again) {
  for (const std::size_t cap : {0U, 1U, 3U}) {
    const auto there = weft::make_chan<int>(cap);
    const auto back = weft::make_chan<int>(cap);
    auto h = weft::spawn([=] {
      weft::lock_os_thread();
      const int tid = weft::test::thread_id();
      int nelsewhere = 0;
      while (const std::optional<int> v = there.recv()) {
        nelsewhere += weft::test::thread_id() != tid;
        back.send(*v + 1);
        nelsewhere += weft::test::thread_id() != tid;
      }
      weft::unlock_os_thread();
      return nelsewhere;
    });
    for (int i = 0; i < 100; ++i) {
      there.send(i);
      EXPECT_EQ(back.recv(), i + 1);
    }
    there.close();
    EXPECT_EQ(h.join(), 0);
  }
}

TEST_FOR_PROCS(lock_os_thread, two_locked_goroutines_wait_for_each_other) {
  weft::event ping;
  weft::event pong;
  const auto player = [](weft::event& mine, weft::event& other) {
    weft::lock_os_thread();
    const int tid = weft::test::thread_id();
    for (int i = 0; i < 100; ++i) {
      mine.wait();
      mine.reset();
      EXPECT_EQ(weft::test::thread_id(), tid);
      other.set();
    }
    weft::unlock_os_thread();
  };
  auto a = weft::spawn([&] { player(ping, pong); });
  auto b = weft::spawn([&] { player(pong, ping); });
  ping.set();
  a.join();
  b.join();
}

// B119
TEST_FOR_PROCS(lock_os_thread, a_goroutine_that_ends_locked_takes_its_thread_with_it) {
  for (int i = 0; i < 5; ++i) {
    const int tid = weft::spawn([] {
                      weft::lock_os_thread();
                      return weft::test::thread_id();
                    }).join();
    EXPECT_TRUE(weft::test::eventually([&] { return !is_alive(tid); }))
        << "thread " << tid << " lives on";
  }
  EXPECT_EQ(weft::spawn([] { return 1; }).join(), 1);
}

TEST_FOR_PROCS(lock_os_thread, exit_goroutine_while_locked_takes_the_thread_with_it) {
  std::atomic<int> tid{0};
  auto h = weft::spawn([&] {
    weft::lock_os_thread();
    tid = weft::test::thread_id();
    weft::exit_goroutine();
  });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
  EXPECT_TRUE(weft::test::eventually([&] { return !is_alive(tid); }));
}

TEST_FOR_PROCS(lock_os_thread, a_goroutine_that_unlocks_before_its_end_leaves_its_thread) {
  if (weft::max_procs() != 1 || weft::test::is_migrating())
    GTEST_SKIP() << "on one P nobody else has a reason to end threads";
  const int tid = weft::spawn([] {
                    weft::lock_os_thread();
                    weft::unlock_os_thread();
                    return weft::test::thread_id();
                  }).join();
  for (int i = 0; i < 100; ++i) weft::yield();
  EXPECT_TRUE(is_alive(tid));
}

// B121: a thread that was changed and then ended with its goroutine is not what later threads are made from.
TEST_FOR_PROCS(lock_os_thread, a_changed_thread_leaves_no_trace_on_later_ones) {
  constexpr long kPersonality =
      0x0040000;  // ADDR_NO_RANDOMIZE: harmless, per thread, inherited by clone
  const auto personality = [](unsigned long p) { return ::syscall(SYS_personality, p); };
  const long before = personality(0xFFFFFFFFul);
  if (before < 0) GTEST_SKIP() << "no personality(2) here";
  if ((before & kPersonality) != 0) GTEST_SKIP() << "the whole process has it";
  for (int i = 0; i < 3; ++i) {
    weft::spawn([&] {
      weft::lock_os_thread();
      personality(static_cast<unsigned long>(before | kPersonality));
      // Others must find threads now, while this one is about.
      weft::wait_group wg;
      for (int n = 0; n < 8; ++n) {
        wg.go([&] {
          weft::blocking([] { std::this_thread::yield(); });
          EXPECT_EQ(personality(0xFFFFFFFFul) & kPersonality, 0);
        });
      }
      wg.wait();
    }).join();
  }
  weft::wait_group wg;
  for (int n = 0; n < 50; ++n) {
    wg.go([&] {
      weft::yield();
      EXPECT_EQ(personality(0xFFFFFFFFul) & kPersonality, 0);
    });
  }
  wg.wait();
}

// B123
TEST(lock_os_thread, lock_main_keeps_the_main_goroutine_on_the_thread_that_called_run) {
  const int here = weft::test::thread_id();
  for (const unsigned n : {1u, 2u, 4u}) {
    weft::test::run_with({.max_procs = n, .lock_main = true}, [&] {
      EXPECT_EQ(weft::this_goroutine::id(), 1u);
      for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(weft::test::thread_id(), here);
        weft::yield();
        ASSERT_NE(weft::spawn([] { return weft::test::thread_id(); }).join(), here);
        ASSERT_EQ(weft::test::thread_id(), here);
        weft::blocking([] {});
      }
      weft::unlock_os_thread();  // the lock is the runtime's
      weft::spawn([] {}).join();
      EXPECT_EQ(weft::test::thread_id(), here);
    });
    EXPECT_EQ(weft::test::thread_id(), here);
  }
}

TEST(lock_os_thread, exceptions_leave_a_locked_main) {
  EXPECT_THROW(weft::run({.lock_main = true}, [] { throw std::runtime_error("out"); }),
               std::runtime_error);
  EXPECT_EQ(weft::run({.lock_main = true}, [] { return 4; }), 4);
}

TEST_FOR_PROCS(lock_os_thread_race, locked_goroutines_come_and_go) {
  std::atomic<int> n{0};
  weft::wait_group wg;
  for (int i = 0; i < weft::test::scaled(60); ++i) {
    wg.go([&, i] {
      weft::lock_os_thread();
      weft::yield();
      if (i % 2 == 0) weft::spawn([&] { ++n; }).join();
      if (i % 3 != 0) weft::unlock_os_thread();
      ++n;
    });
  }
  wg.wait();
  EXPECT_EQ(n, weft::test::scaled(60) + (weft::test::scaled(60) + 1) / 2);
}

}  // namespace
