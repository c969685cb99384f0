// restartable_test.cpp: see restartable.hpp, [restart.others].
#include "os/restartable.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <thread>

#include <unistd.h>

#include "os/clock.hpp"

namespace weft::os {
namespace {

TEST(restartable, replaces_what_it_was_told_and_nothing_else) {
  init_restartables(true);
  std::atomic<std::uint32_t> word{7};
  EXPECT_FALSE(replace_alone(word, 6, 1));
  EXPECT_EQ(word.load(), 7u);
  // A thread that is stopped in the midst of it fails, which happens hardly ever twice.
  bool is_done = false;
  for (int i = 0; i < 1000 && !is_done; ++i) is_done = replace_alone(word, 7, 9);
  EXPECT_TRUE(is_done);
  EXPECT_EQ(word.load(), 9u);
}

TEST(restartable, once_it_is_on_it_stays_on) {
  if (!init_restartables(true)) GTEST_SKIP() << "no restartable sequences here";
  EXPECT_TRUE(init_restartables(false));
  EXPECT_NE(detail::rseq_offset.load(), 0);
}

// A sequence that the kernel takes for broken is a SIGSEGV at the first signal or switch in its midst.
TEST(restartable_race, signals_in_its_midst_do_no_harm) {
  if (!init_restartables(true)) GTEST_SKIP() << "no restartable sequences here";
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, &before);
  std::atomic<std::uint32_t> word{0};
  std::atomic<bool> is_over{false};
  std::uint64_t nfailed = 0;
  std::thread replacer([&] {
    while (!is_over.load(std::memory_order_relaxed)) {
      for (int i = 0; i < 1000; ++i) {
        if (!replace_alone(word, 0, 1) && word.load() != 0) break;
        if (word.load() == 0) ++nfailed;
        word.store(0, std::memory_order_relaxed);
      }
    }
  });
  for (int i = 0; i < 5000; ++i) ::pthread_kill(replacer.native_handle(), SIGUSR1);
  is_over = true;
  replacer.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  RecordProperty("failed", std::to_string(nfailed));
  EXPECT_EQ(word.load(), 0u) << "nobody else has changed it";
}

// One marks the word that another goes on freeing and taking again. A mark that is there after the restart is not wiped out any more.
TEST(restartable_race, a_mark_that_outlasts_the_restart_stays) {
  if (!init_restartables(true)) GTEST_SKIP() << "no restartable sequences here";
  constexpr std::uint32_t kFree = 0, kTaken = 1, kMarked = 3;
  constexpr int kRounds = 1000;
  const std::int64_t deadline_ns = now_ns() + 300 * kMillisecond;  // where they share a CPU
  std::atomic<std::uint32_t> word{kTaken};
  std::atomic<bool> is_over{false};
  std::atomic<int> nturns{0};
  std::thread holder([&] {
    while (!is_over.load(std::memory_order_relaxed)) {
      if (replace_alone(word, kTaken, kFree)) {
        nturns.store(nturns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        std::uint32_t seen = kFree;
        EXPECT_TRUE(word.compare_exchange_strong(seen, kTaken)) << "marked while it was free";
      }
    }
  });
  int nwiped = 0;
  for (int round = 0; round < kRounds && now_ns() < deadline_ns && !HasFailure(); ++round) {
    const int before = nturns.load();
    while (nturns.load(std::memory_order_relaxed) < before + 20) {
    }  // it is in full swing
    for (;;) {
      std::uint32_t seen = kTaken;
      if (!word.compare_exchange_strong(seen, kMarked)) continue;
      restart_others();
      if (word.load(std::memory_order_relaxed) == kMarked) break;
      ++nwiped;
    }
    for (int i = 0; i < 1000 && !HasFailure(); ++i) {
      EXPECT_EQ(word.load(std::memory_order_relaxed), kMarked)
          << "in round " << round << ", look " << i;
    }
    word.store(kTaken);
  }
  is_over = true;
  holder.join();
  RecordProperty("wiped_out", std::to_string(nwiped));
}

}  // namespace
}  // namespace weft::os
