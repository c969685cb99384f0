#include "os/clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include <unistd.h>

#include "os/thread.hpp"

namespace weft::os {
namespace {

TEST(sleep_until, is_never_early) {
  for (const std::int64_t span : {kMicrosecond, 100 * kMicrosecond, 3 * kMillisecond}) {
    const std::int64_t deadline = now_ns() + span;
    sleep_until(deadline);
    EXPECT_GE(now_ns(), deadline);
  }
}

TEST(sleep_until, what_has_passed_returns_and_errno_stays) {
  errno = 77;
  for (const std::int64_t past :
       {now_ns() - kSecond, std::int64_t{1}, std::int64_t{0}, std::int64_t{-1}, INT64_MIN})
    sleep_until(past);  // a sleep for ever would be the failure
  EXPECT_EQ(errno, 77);
}

std::atomic<int> nsignals{0};

TEST(sleep_until, signals_neither_end_nor_prolong_it) {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { nsignals.fetch_add(1); };  // without SA_RESTART
  ::sigaction(SIGUSR1, &action, &before);
  nsignals = 0;
  std::atomic<int> tid{0};
  std::atomic<bool> is_awake{false};
  std::atomic<bool> was_early{false};
  std::thread sleeper([&] {
    const std::int64_t deadline = now_ns() + 50 * kMillisecond;
    tid = thread_id();
    sleep_until(deadline);
    was_early = now_ns() < deadline;
    is_awake = true;
    ::usleep(1);  // ThreadSanitizer runs what it has put off
    while (nsignals == 0) ::usleep(100);
  });
  while (tid == 0) std::this_thread::yield();
  int nsent = 0;
  while (!is_awake) {
    ::tgkill(process_id(), tid, SIGUSR1);
    ++nsent;
    ::usleep(200);
  }
  sleeper.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_FALSE(was_early);
  EXPECT_GT(nsent, 0);
  EXPECT_GT(nsignals, 0);
}

}  // namespace
}  // namespace weft::os
