#include "os/thread_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/line_reader.hpp"
#include "os/thread.hpp"

namespace weft::os {
namespace {

// A thread that does something until the end of the scope: body() returns when stop() has been called.
class companion {
 public:
  companion(std::function<void()> body, std::function<void()> stop) : stop_(std::move(stop)) {
    std::latch is_there(1);
    thread_ = std::thread([this, &is_there, body = std::move(body)] {
      tid_ = thread_id();
      is_there.count_down();
      body();
    });
    is_there.wait();
  }
  ~companion() { end(); }
  void end() {
    if (!thread_.joinable()) return;
    stop_();
    thread_.join();
  }
  int tid() const { return tid_; }

 private:
  int tid_ = 0;
  std::function<void()> stop_;
  std::thread thread_;
};

struct pipe_pair {
  pipe_pair() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
  ~pipe_pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  int ends[2] = {-1, -1};
};

std::unique_ptr<companion> reader() {
  auto pipe = std::make_shared<pipe_pair>();
  return std::make_unique<companion>(
      [pipe] {
        char c;
        EXPECT_EQ(::read(pipe->ends[0], &c, 1), 1);
      },
      [pipe] { EXPECT_EQ(::write(pipe->ends[1], "x", 1), 1); });
}

std::unique_ptr<companion> napper() {
  auto is_over = std::make_shared<std::atomic<bool>>(false);
  return std::make_unique<companion>(
      [is_over] {
        const timespec nap{0, 20'000'000};
        while (!*is_over) ::nanosleep(&nap, nullptr);
      },
      [is_over] { *is_over = true; });
}

std::unique_ptr<companion> futex_sleeper() {
  auto word = std::make_shared<std::atomic<std::uint32_t>>(0);
  return std::make_unique<companion>(
      [word] {
        while (*word == 0) futex_wait(*word, 0);
      },
      [word] {
        *word = 1;
        futex_wake(*word, 1);
      });
}

std::unique_ptr<companion> spinner() {
  auto is_over = std::make_shared<std::atomic<bool>>(false);
  return std::make_unique<companion>(
      [is_over] {
        while (!is_over->load(std::memory_order_relaxed)) {
        }
      },
      [is_over] { *is_over = true; });
}

// Looks until it is so; the time it may take is the test's own limit.
bool becomes(thread_watch& watch, thread_activity wanted) {
  for (int i = 0; i < 20'000; ++i) {
    if (watch.look() == wanted) return true;
    ::usleep(500);
  }
  return false;
}

int ndescriptors() {
  int n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++n;
  return n;
}

bool has_syscall_file() { return ::access("/proc/thread-self/syscall", R_OK) == 0; }

class thread_watch_by : public testing::TestWithParam<watch_source> {
 protected:
  void SetUp() override {
    if (GetParam() == watch_source::syscall_file && !has_syscall_file())
      GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  }
};

TEST_P(thread_watch_by, sees_sleepers_in_the_kernel) {
  for (const auto make : {reader, napper, futex_sleeper}) {
    const auto sleeper = make();
    thread_watch watch(GetParam());
    watch.open(sleeper->tid());
    EXPECT_TRUE(becomes(watch, thread_activity::asleep));
    EXPECT_EQ(watch.source(), GetParam());
  }
}

TEST_P(thread_watch_by, sees_the_end_of_a_thread) {
  const auto sleeper = reader();
  thread_watch watch(GetParam());
  watch.open(sleeper->tid());
  EXPECT_TRUE(becomes(watch, thread_activity::asleep));
  sleeper->end();
  EXPECT_TRUE(becomes(watch, thread_activity::gone)) << "the kernel takes a moment after join";
  EXPECT_FALSE(watch.is_kept());
  EXPECT_EQ(watch.cpu_ns(), -1);
}

TEST_P(thread_watch_by, keeps_errno) {
  const auto sleeper = reader();
  thread_watch watch(GetParam());
  watch.open(sleeper->tid());
  errno = 77;
  watch.look();
  sleeper->end();
  becomes(watch, thread_activity::gone);
  errno = 77;
  watch.look();
  watch.open(1 << 30);
  watch.look();
  watch.close();
  EXPECT_EQ(errno, 77);
}

std::string name_of(const testing::TestParamInfo<watch_source>& info) {
  return info.param == watch_source::syscall_file   ? "syscall_file"
         : info.param == watch_source::state_letter ? "state_letter"
                                                    : "cpu_clock";
}
INSTANTIATE_TEST_SUITE_P(, thread_watch_by,
                         testing::Values(watch_source::syscall_file, watch_source::state_letter,
                                         watch_source::cpu_clock),
                         &name_of);

TEST(thread_watch, never_takes_a_thread_that_computes_for_a_sleeper) {
  // More of them than CPUs, so that some always wait for one: the clock alone would call those asleep.
  std::vector<std::unique_ptr<companion>> spinners;
  for (unsigned i = 0; i < std::thread::hardware_concurrency() + 2; ++i)
    spinners.push_back(spinner());
  for (const watch_source source : {watch_source::syscall_file, watch_source::state_letter}) {
    for (const auto& one : spinners) {
      thread_watch watch(source);
      watch.open(one->tid());
      // It may still be on its way from its start to the loop.
      ASSERT_TRUE(becomes(watch, thread_activity::running));
      const std::int64_t before = watch.cpu_ns();
      while (watch.cpu_ns() < before + kMillisecond) ::usleep(100);
      for (int i = 0; i < 200; ++i) ASSERT_EQ(watch.look(), thread_activity::running);
      if (source == watch_source::syscall_file && has_syscall_file()) {
        EXPECT_EQ(watch.source(), source);
      }
    }
  }
}

TEST(thread_watch, closed_or_wrong_there_is_nobody) {
  thread_watch watch;
  EXPECT_EQ(watch.look(), thread_activity::gone);
  EXPECT_EQ(watch.cpu_ns(), -1);
  for (const int nobody : {-1, 1 << 22, 1 << 30, INT_MAX}) {
    watch.open(nobody);
    EXPECT_EQ(watch.look(), thread_activity::gone) << nobody;
    EXPECT_FALSE(watch.is_asleep());
  }
  watch.open(thread_id());
  watch.close();
  EXPECT_EQ(watch.look(), thread_activity::gone);
}

TEST(thread_watch, another_thread_is_seen_by_the_same_watch) {
  const auto busy = spinner();
  const auto sleeper = reader();
  thread_watch watch;
  watch.open(sleeper->tid());
  EXPECT_TRUE(becomes(watch, thread_activity::asleep));
  watch.open(busy->tid());
  EXPECT_TRUE(becomes(watch, thread_activity::running));
  watch.open(sleeper->tid());
  EXPECT_TRUE(becomes(watch, thread_activity::asleep));
}

TEST(thread_watch, opens_nothing_before_it_looks_and_gives_it_back) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  const auto sleeper = reader();
  const int before = ndescriptors();
  {
    thread_watch watch;
    watch.open(sleeper->tid());
    EXPECT_EQ(ndescriptors(), before);
    watch.look();
    watch.look();
    EXPECT_TRUE(watch.is_kept());
    EXPECT_EQ(ndescriptors(), before + 1);
    watch.open(sleeper->tid());
    EXPECT_TRUE(watch.is_kept()) << "the same thread: nothing to do";
  }
  EXPECT_EQ(ndescriptors(), before);
}

// The kept descriptor: the one that was not there before.
int newest_descriptor() {
  int newest = -1;
  for (int fd = 3; fd < 4096; ++fd) {
    char target[256];
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t n = ::readlink(link.c_str(), target, sizeof target);
    if (n > 0 && std::string_view(target, static_cast<std::size_t>(n)).ends_with("/syscall"))
      newest = fd;
  }
  return newest;
}

TEST(thread_watch, its_descriptor_is_closed_by_exec) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  thread_watch watch;
  watch.open(thread_id());
  watch.look();
  const int fd = newest_descriptor();
  ASSERT_GE(fd, 0);
  EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

// The program has closed the descriptor, and its number now stands for a file of its own.
void replace_descriptor(int fd) {
  const int foreign = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::dup3(foreign, fd, O_CLOEXEC), fd);
  ::close(foreign);
}

TEST(thread_watch, survives_a_program_that_closes_what_it_does_not_know) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  const auto sleeper = reader();
  thread_watch watch;
  watch.open(sleeper->tid());
  ASSERT_TRUE(becomes(watch, thread_activity::asleep));
  const int fd = newest_descriptor();
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::close(fd), 0);
  EXPECT_TRUE(watch.is_asleep());
  EXPECT_EQ(watch.source(), watch_source::syscall_file);
}

TEST(thread_watch, does_not_believe_a_file_of_the_program) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  const auto busy = spinner();
  thread_watch watch;
  watch.open(busy->tid());
  ASSERT_TRUE(becomes(watch, thread_activity::running));
  const int fd = newest_descriptor();
  ASSERT_GE(fd, 0);
  replace_descriptor(fd);
  EXPECT_EQ(watch.look(), thread_activity::running);
  EXPECT_EQ(watch.source(), watch_source::syscall_file);
  EXPECT_EQ(::close(fd), 0) << "the program's file is still there";
}

TEST(thread_watch, does_not_close_a_file_of_the_program) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  const auto sleeper = reader();
  thread_watch watch;
  watch.open(sleeper->tid());
  watch.look();
  const int fd = newest_descriptor();
  ASSERT_GE(fd, 0);
  replace_descriptor(fd);
  watch.close();
  EXPECT_EQ(::close(fd), 0) << "the program's file is still there";
}

TEST(thread_watch, keeps_no_more_descriptors_than_it_may) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  const auto sleeper = reader();
  const int before = ndescriptors();
  std::vector<std::unique_ptr<thread_watch>> watches;
  unsigned nkept = 0;
  for (unsigned i = 0; i < thread_watch::kMostKept + 20; ++i) {
    watches.push_back(std::make_unique<thread_watch>());
    watches.back()->open(sleeper->tid());
    ASSERT_TRUE(becomes(*watches.back(), thread_activity::asleep));
    ASSERT_EQ(watches.back()->source(), watch_source::syscall_file) << "kept or not";
    nkept += watches.back()->is_kept();
  }
  EXPECT_GT(nkept, 0U);
  EXPECT_LE(nkept, thread_watch::kMostKept);
  EXPECT_EQ(ndescriptors(), before + static_cast<int>(nkept));
  watches.clear();
  EXPECT_EQ(ndescriptors(), before);
  thread_watch again;
  again.open(sleeper->tid());
  again.look();
  EXPECT_TRUE(again.is_kept()) << "the others have given theirs back";
}

class limit_of_descriptors {
 public:
  explicit limit_of_descriptors(rlim_t n) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit lower{n, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &lower), 0);
  }
  ~limit_of_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(thread_watch, leaves_most_of_few_descriptors_to_the_program) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  const auto sleeper = reader();
  const limit_of_descriptors sixty_four(64);
  std::vector<std::unique_ptr<thread_watch>> watches;
  unsigned nkept = 0;
  for (int i = 0; i < 20; ++i) {
    watches.push_back(std::make_unique<thread_watch>());
    watches.back()->open(sleeper->tid());
    watches.back()->look();
    EXPECT_EQ(watches.back()->source(), watch_source::syscall_file);
    nkept += watches.back()->is_kept();
  }
  EXPECT_EQ(nkept, 8U);
}

TEST(thread_watch, without_descriptors_the_clock_is_left) {
  const auto sleeper = reader();
  thread_watch watch;
  watch.open(sleeper->tid());
  const limit_of_descriptors none(0);
  EXPECT_TRUE(becomes(watch, thread_activity::asleep));
  EXPECT_EQ(watch.source(), watch_source::cpu_clock);
}

TEST(thread_watch, descriptors_that_come_back_are_used) {
  if (!has_syscall_file()) GTEST_SKIP() << "no /proc/self/task/T/syscall here";
  const auto sleeper = reader();
  thread_watch watch;
  watch.open(sleeper->tid());
  {
    const limit_of_descriptors none(0);
    watch.look();
    EXPECT_NE(watch.source(), watch_source::syscall_file);
  }
  watch.look();
  EXPECT_EQ(watch.source(), watch_source::syscall_file);
}

// Changes the effective user of the calling thread alone, which the C library's call would not.
bool become(uid_t user) {
  return ::syscall(SYS_setresuid, static_cast<uid_t>(-1), user, static_cast<uid_t>(-1)) == 0;
}

TEST(thread_watch, where_the_file_is_forbidden_the_letter_is_read) {
  const auto sleeper = reader();
  const auto busy = spinner();
  thread_activity of_sleeper{}, of_busy{};
  watch_source source{};
  bool was_refused = false;
  std::thread nobody([&] {
    const bool was_root = ::geteuid() == 0;
    if (was_root) {
      ASSERT_TRUE(become(65534));
    }
    ::prctl(PR_SET_DUMPABLE, 0);  // whoever is not root loses his own files in /proc
    const raw_file file(("/proc/self/task/" + std::to_string(sleeper->tid()) + "/syscall").c_str());
    was_refused = !file.is_open();
    thread_watch watch;
    watch.open(sleeper->tid());
    becomes(watch, thread_activity::asleep);
    of_sleeper = watch.look();
    source = watch.source();
    watch.open(busy->tid());
    becomes(watch, thread_activity::running);
    of_busy = watch.look();
    if (was_root) become(0);
    ::prctl(PR_SET_DUMPABLE, 1);
  });
  nobody.join();
  ASSERT_TRUE(was_refused);
  EXPECT_EQ(of_sleeper, thread_activity::asleep);
  EXPECT_EQ(source, watch_source::state_letter);
  EXPECT_EQ(of_busy, thread_activity::running);
}

TEST(thread_watch, counts_the_sleeps_of_others) {
  const auto sleeper = napper();
  thread_watch of_sleeper;
  of_sleeper.open(sleeper->tid());
  const std::int64_t before = of_sleeper.nsleeps();
  if (before < 0) GTEST_SKIP() << "no /proc/self/task/T/status here";
  const std::int64_t limit = now_ns() + 10 * kSecond;
  while (of_sleeper.nsleeps() < before + 3 && now_ns() < limit) yield_cpu();
  EXPECT_GE(of_sleeper.nsleeps(), before + 3);
}

TEST(thread_watch, counts_no_sleeps_of_one_that_computes) {
  std::atomic<bool> is_over{false};
  const companion loop(
      [&] {
        while (!is_over) {
        }
      },
      [&] { is_over = true; });
  thread_watch of_loop;
  of_loop.open(loop.tid());
  const std::int64_t used = of_loop.cpu_ns();
  const std::int64_t before = of_loop.nsleeps();
  if (before < 0) GTEST_SKIP() << "no /proc/self/task/T/status here";
  while (of_loop.cpu_ns() < used + 20 * kMillisecond) yield_cpu();
  EXPECT_EQ(of_loop.nsleeps(), before);
}

TEST(thread_watch, knows_no_sleeps_of_nobody) {
  thread_watch none;
  EXPECT_EQ(none.nsleeps(), -1);
  none.open(INT_MAX);
  EXPECT_EQ(none.nsleeps(), -1);
}

TEST(thread_watch, sees_the_signals_that_a_thread_has_yet_to_take) {
  if (sizeof(WEFT_TEST_EMULATOR) > 1) GTEST_SKIP() << "an emulator keeps what is pending to itself";
  sigset_t one;
  sigset_t before;
  sigemptyset(&one);
  sigaddset(&one, SIGRTMIN + 4);
  ::pthread_sigmask(SIG_BLOCK, &one, &before);
  thread_watch mine;
  mine.open(thread_id());
  if (!mine.has_pending(SIGRTMIN + 4)) GTEST_SKIP() << "no /proc/self/task/T/status here";
  EXPECT_EQ(mine.has_pending(SIGRTMIN + 4), false);
  ::pthread_kill(::pthread_self(), SIGRTMIN + 4);
  EXPECT_EQ(mine.has_pending(SIGRTMIN + 4), true);
  EXPECT_EQ(mine.has_pending(SIGRTMIN + 5), false);
  EXPECT_EQ(mine.has_pending(SIGRTMIN + 3), false);
  int taken = 0;
  ::sigwait(&one, &taken);
  EXPECT_EQ(mine.has_pending(SIGRTMIN + 4), false);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  thread_watch none;
  EXPECT_EQ(none.has_pending(SIGURG), std::nullopt);
}

TEST(thread_cpu, is_the_time_that_the_thread_has_used) {
  timespec mine{};
  ASSERT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine), 0);
  const std::int64_t first = mine.tv_sec * kSecond + mine.tv_nsec;
  const std::int64_t second = thread_cpu_ns(thread_id());
  ASSERT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mine), 0);
  EXPECT_LE(first, second);
  EXPECT_LE(second, mine.tv_sec * kSecond + mine.tv_nsec);
}

TEST(thread_cpu, grows_for_one_that_computes_and_stands_for_one_that_sleeps) {
  const auto busy = spinner();
  const auto sleeper = reader();
  thread_watch watch;
  watch.open(sleeper->tid());
  ASSERT_TRUE(becomes(watch, thread_activity::asleep));
  const std::int64_t asleep = thread_cpu_ns(sleeper->tid());
  const std::int64_t computing = thread_cpu_ns(busy->tid());
  while (thread_cpu_ns(busy->tid()) < computing + 2 * kMillisecond) ::usleep(100);
  // Nearly: it may have been asleep elsewhere, on its way into the pipe.
  EXPECT_LT(thread_cpu_ns(sleeper->tid()) - asleep, kMillisecond);
}

TEST(thread_cpu, of_nobody_is_negative) {
  for (const int nobody : {0, -1, 1 << 22, 1 << 29, 1 << 30, INT_MAX})
    EXPECT_EQ(thread_cpu_ns(nobody), -1) << nobody;
  EXPECT_EQ(thread_cpu_ns(1), process_id() == 1 ? thread_cpu_ns(1) : -1) << "another process";
}

}  // namespace
}  // namespace weft::os
