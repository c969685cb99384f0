// testing_leaks.cpp: testing::leak_check: goroutines that somebody forgot.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "support/for_procs.hpp"
#include "support/pressure.hpp"

#include <weft/testing/gtest.hpp>
#include <weft/testing/leak_check.hpp>
#include <weft/weft.hpp>

using namespace std::chrono_literals;
using weft::testing::goroutine_info;
using weft::testing::leak_check;

namespace {

TEST_FOR_PROCS(leak_check, finds_none_where_all_have_ended) {
  leak_check guard;
  weft::spawn([] {}).join();
  weft::wait_group wg;
  for (int i = 0; i < 100; ++i) wg.go([] { weft::yield(); });
  wg.wait();
  EXPECT_TRUE(guard.leaks().empty());
}

TEST_FOR_PROCS(leak_check, waits_for_those_who_are_about_to_end) {
  leak_check guard({.grace = 30s});
  for (int i = 0; i < 10; ++i) weft::go([] { weft::sleep_for(20ms); });
  EXPECT_TRUE(guard.leaks().empty());
}

TEST_FOR_PROCS(leak_check, says_who_waits_for_what_and_where_it_was_made) {
  auto c = weft::make_chan<int>();
  leak_check guard({.grace = 20ms});
  weft::go({.name = "reader"}, [c] { c.recv(); });
  const std::vector<goroutine_info> leaked = guard.leaks();
  ASSERT_EQ(leaked.size(), 1u);
  EXPECT_EQ(leaked[0].name, "reader");
  EXPECT_EQ(leaked[0].state, "chan receive");
  EXPECT_NE(leaked[0].waits_on, nullptr);
  EXPECT_NE(leaked[0].id, weft::this_goroutine::id());
  const std::string line = to_string(leaked[0]);
  EXPECT_NE(line.find("\"reader\" [chan receive]: made at weft_conformance_tests+0x"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find(" by goroutine " + std::to_string(weft::this_goroutine::id())),
            std::string::npos)
      << line;
  c.close();
}

TEST_FOR_PROCS(leak_check, also_those_that_run_or_block) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  leak_check guard({.grace = 20ms});
  weft::go([stop] {
    while (!*stop) weft::yield();
  });
  weft::go([stop] {
    weft::blocking([&] {
      while (!*stop) std::this_thread::sleep_for(1ms);
    });
  });
  EXPECT_EQ(guard.leaks().size(), 2u);
  *stop = true;
}

TEST_FOR_PROCS(leak_check, those_that_were_there_before_are_not_counted_nor_those_it_is_told_of) {
  const auto stop = std::make_shared<weft::event>();  // they may outlive this
  weft::go([stop] { stop->wait(); });
  leak_check guard({.grace = 20ms, .ignore = {"pool"}});
  weft::go({.name = "pool"}, [stop] { stop->wait(); });
  EXPECT_TRUE(guard.leaks().empty());
  stop->set();
}

TEST_FOR_PROCS(leak_check, the_guard_calls_the_handler_at_its_end) {
  const auto stop = std::make_shared<weft::event>();  // they may outlive this
  std::size_t nfound = 0;
  {
    leak_check guard({.grace = 20ms, .on_leak = [&](const auto& all) { nfound = all.size(); }});
    for (int i = 0; i < 3; ++i) weft::go([stop] { stop->wait(); });
  }
  EXPECT_EQ(nfound, 3u);
  stop->set();
}

TEST(leak_check, around_a_runtime_finds_those_it_abandoned) {
  leak_check guard;
  weft::run([] {
    weft::event is_there;
    weft::go({.name = "abandoned"}, [&] {
      is_there.set();
      weft::chan<int>().recv();
    });
    is_there.wait();
    for (int i = 0; i < 1000 && weft::num_goroutines() < 2; ++i) weft::yield();
  });
  const std::vector<goroutine_info> leaked = guard.leaks();
  ASSERT_EQ(leaked.size(), 1u);
  EXPECT_TRUE(leaked[0].is_abandoned);
  EXPECT_NE(to_string(leaked[0]).find("abandoned when its runtime ended"), std::string::npos);
}

// run() goes on as soon as main's function has returned, when its goroutine is not quite at its end.
TEST(leak_check_race, the_main_goroutine_of_a_runtime_that_ended_is_none) {
  const weft::test::debug_setting everywhere("migrate=1");
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    leak_check guard;
    weft::run({.max_procs = 2}, [] { weft::yield(); });
    const std::vector<goroutine_info> leaked = guard.leaks();
    ASSERT_TRUE(leaked.empty()) << to_string(leaked);
  }
}

TEST(leak_check, without_a_runtime_there_is_nobody) {
  leak_check guard;
  EXPECT_TRUE(guard.leaks().empty());
}

TEST_FOR_PROCS(leak_check_race, looks_at_goroutines_that_come_and_go) {
  std::atomic<bool> stop{false};
  weft::wait_group wg;
  for (int i = 0; i < 3; ++i) {
    wg.go([&] {
      auto c = weft::make_chan<int>();
      while (!stop) {
        weft::go({.name = "short"}, [c] { c.send(1); });
        c.recv();
      }
    });
  }
  for (int i = 0; i < weft::test::scaled(20); ++i) {
    leak_check guard({.grace = 0ms});
    weft::yield();
    for (const goroutine_info& g : guard.leaks()) EXPECT_NE(g.id, 0u);
  }
  stop = true;
  wg.wait();
}

TEST_FOR_PROCS(leak_listener, a_test_that_leaves_one_behind_fails) {
  const auto stop = std::make_shared<weft::event>();  // they may outlive this
  weft::testing::leak_listener listener({.grace = 20ms});
  const testing::TestInfo& me = *testing::UnitTest::GetInstance()->current_test_info();
  listener.OnTestStart(me);
  weft::go({.name = "forgotten"}, [stop] { stop->wait(); });
  testing::TestPartResultArray failures;
  {
    const testing::ScopedFakeTestPartResultReporter intercept(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &failures);
    listener.OnTestEnd(me);
  }
  stop->set();
  ASSERT_EQ(failures.size(), 1);
  const std::string message = failures.GetTestPartResult(0).message();
  EXPECT_NE(message.find("1 goroutine(s) leaked"), std::string::npos) << message;
  EXPECT_NE(message.find("\"forgotten\" [event wait]"), std::string::npos) << message;
}

}  // namespace
