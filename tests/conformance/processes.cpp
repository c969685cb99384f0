// processes.cpp: starting programs while goroutines are stopped by signals (B052, B136, HAZARD 33).
//
// A signal that arrives between fork and exec must not kill the child or fail the exec, and the child must begin with the program's own mask
// and dispositions, whatever the thread it came from was just doing. tests/death has the single cases; here are many, from all sides.
//
// WEFT_SPAWNS=10000 starts so many on each number of Ps.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/pressure.hpp"

extern char** environ;

namespace {

int nspawns() {
  const auto wanted = static_cast<int>(weft::test::setting("WEFT_SPAWNS", 0));
  return wanted > 0 ? wanted : weft::test::scaled(70);
}

// Each returns the child, or -1 if there is none.
pid_t by_posix_spawn(char* const* arguments) {
  pid_t child = -1;
  return ::posix_spawn(&child, arguments[0], nullptr, nullptr, arguments, environ) == 0 ? child
                                                                                        : -1;
}
pid_t by_fork_and_exec(char* const* arguments) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::execve(arguments[0], arguments, environ);
  ::_exit(127);
}

int wait_for(pid_t child) {
  int status = -1;
  while (::waitpid(child, &status, 0) != child)
    if (errno != EINTR) return -1;
  return status;
}

// Runs a program in one of four ways and tells how it ended. 0: as it should.
int run_program(int way, char* const* arguments) {
  const auto start = [&] {
    return way % 2 == 0 ? by_posix_spawn(arguments) : by_fork_and_exec(arguments);
  };
  if (way / 2 % 2 == 0) {
    const pid_t child = start();
    return child > 0 ? wait_for(child) : -1;
  }
  return weft::blocking([&] {
    const pid_t child = start();
    return child > 0 ? wait_for(child) : -1;
  });
}

TEST_FOR_PROCS(processes, thousands_are_spawned_under_preemption_and_all_end_well) {
  char name[] = "/bin/true";
  char* const arguments[] = {name, nullptr};
  const int n = nspawns();
  std::atomic<int> nstarted{0};
  std::atomic<int> nwell{0};
  weft::wait_group wg;
  const weft::test::pressure beside;
  constexpr int kAtOnce = 4;
  for (int i = 0; i < kAtOnce; ++i) {
    wg.go([&] {
      for (int k = nstarted++; k < n; k = nstarted++) {
        const int status = run_program(k, arguments);
        EXPECT_EQ(status, 0) << "number " << k;
        nwell += status == 0;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(nwell, n);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

// The shell that is started asks the kernel itself.
TEST_FOR_PROCS(processes, a_child_begins_with_no_signal_blocked_and_those_ignored_that_were) {
  sigset_t mask;
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
  ASSERT_FALSE(sigismember(&mask, SIGURG));
  struct sigaction ignored{};
  struct sigaction old{};
  ignored.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGWINCH, &ignored, &old), 0);
  char shell[] = "/bin/sh";
  char option[] = "-c";
  // Bit 22 is SIGURG, bit 27 SIGWINCH. Not blocked: URG. Ignored: WINCH but not URG.
  char script[] =
      "while read -r name value; do case $name in "
      "SigBlk:) test $((0x$value >> 22 & 1)) = 0 || exit 3 ;; "
      "SigIgn:) test $((0x$value >> 22 & 1)) = 0 || exit 4; "
      "test $((0x$value >> 27 & 1)) = 1 || exit 5 ;; "
      "esac; done < /proc/self/status";
  char* const arguments[] = {shell, option, script, nullptr};
  weft::test::stopping_place place;
  weft::wait_group wg;
  const unsigned n = 4 + weft::max_procs();
  for (unsigned way = 0; way < n; ++way) {
    wg.go([&, way] {
      place.compute();
      const int status = run_program(static_cast<int>(way), arguments);
      EXPECT_TRUE(WIFEXITED(status)) << status;
      EXPECT_EQ(WEXITSTATUS(status), 0) << "in way " << way;
    });
  }
  EXPECT_TRUE(place.release_after_stops_of(n));
  wg.wait();
  ASSERT_EQ(::sigaction(SIGWINCH, &old, nullptr), 0);
}

std::atomic<int> nin_child{0};
void count_in_child(int) { ++nin_child; }

// Between fork and exec the child stands on a copy of the thread it came from: its alternate stack is there and free.
TEST_FOR_PROCS(processes, a_forked_child_may_take_signals_on_its_alternate_stack) {
  if (weft::test::kIsTsan) GTEST_SKIP() << "ThreadSanitizer puts signals off in a forked child";
  struct sigaction counting{};
  struct sigaction old{};
  counting.sa_handler = &count_in_child;
  counting.sa_flags = SA_ONSTACK;
  ASSERT_EQ(::sigaction(SIGUSR1, &counting, &old), 0);
  weft::test::stopping_place place;
  weft::wait_group wg;
  const unsigned n = 2 + weft::max_procs();
  for (unsigned i = 0; i < n; ++i) {
    wg.go([&] {
      place.compute();
      const pid_t child = ::fork();
      if (child == 0) {
        stack_t stack{};
        if (::sigaltstack(nullptr, &stack) != 0) ::_exit(2);
        if ((stack.ss_flags & (SS_ONSTACK | SS_DISABLE)) != 0) ::_exit(3);
        nin_child = 0;
        ::raise(SIGUSR1);
        ::raise(SIGURG);  // a stranger's: nobody stops in the child
        ::raise(SIGUSR1);
        ::_exit(nin_child == 2 ? 0 : 4);
      }
      ASSERT_GT(child, 0);
      const int status = wait_for(child);
      EXPECT_TRUE(WIFEXITED(status)) << status;
      EXPECT_EQ(WEXITSTATUS(status), 0);
    });
  }
  EXPECT_TRUE(place.release_after_stops_of(n));
  wg.wait();
  ASSERT_EQ(::sigaction(SIGUSR1, &old, nullptr), 0);
}

}  // namespace
