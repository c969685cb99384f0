// processes.cpp: fork, exec and spawn in programs that use weft.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <string>

#include "scenario.hpp"

extern char** environ;

using namespace scenario;

namespace {

// Forks, runs f in the child, and tells how the child ended. f must not return.
template <class F>
void in_child(F&& f) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    f();
    ::_exit(kNotMet);
  }
  int status = 0;
  REQUIRE(weft::blocking([&] { return ::waitpid(pid, &status, 0); }) == pid);
  if (WIFEXITED(status)) say("child exited with %d", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) say("child died of %d", WTERMSIG(status));
}

template <class F>
void in_child_of_goroutine(F f) {
  weft::run([&] {
    weft::go([] { wait_for_ever(); });
    weft::yield();
    in_child(f);
    weft::yield();  // the parent goes on as if nothing had happened
    weft::spawn([] { weft::yield(); }).join();
  });
}

// The masks and ignored signals as the kernel sees them, of a fresh program.
constexpr const char* kAskShell =
    "grep -E '^(SigBlk|SigIgn|SigCgt)' /proc/self/status | tr '\\n' ' '; echo";

void ask(const char* who) {
  std::fprintf(stdout, "%s: ", who);
  std::fflush(stdout);
  REQUIRE(std::system(kAskShell) == 0);
}

void ask_by_spawn(const char* who) {
  std::fprintf(stdout, "%s: ", who);
  std::fflush(stdout);
  char* const arguments[] = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                             const_cast<char*>(kAskShell), nullptr};
  pid_t pid;
  REQUIRE(::posix_spawn(&pid, "/bin/sh", nullptr, nullptr, arguments, environ) == 0);
  int status;
  REQUIRE(::waitpid(pid, &status, 0) == pid && status == 0);
}

void ask_by_exec(const char* who) {
  std::fprintf(stdout, "%s: ", who);
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl("/bin/sh", "sh", "-c", kAskShell, nullptr);
    ::_exit(127);
  }
  int status;
  REQUIRE(::waitpid(pid, &status, 0) == pid && status == 0);
}

}  // namespace

SCENARIO(fork_exec) {
  in_child_of_goroutine([] { ::execl("/bin/sh", "sh", "-c", "exit 5", nullptr); });
}
SCENARIO(fork_quits) {
  in_child_of_goroutine([] { ::_exit(6); });
}
SCENARIO(fork_go) {
  in_child_of_goroutine([] { weft::go([] {}); });
}
SCENARIO(fork_spawn) {
  in_child_of_goroutine([] { (void)weft::spawn([] {}); });
}
SCENARIO(fork_yield) {
  in_child_of_goroutine([] { weft::yield(); });
}
SCENARIO(fork_event_set) {
  in_child_of_goroutine([] { weft::event().set(); });
}
SCENARIO(fork_event_wait) {
  in_child_of_goroutine([] { wait_for_ever(); });
}
SCENARIO(fork_wait_group) {
  in_child_of_goroutine([] {
    weft::wait_group group;
    group.add(1);
    group.wait();
  });
}
SCENARIO(fork_blocking) {
  in_child_of_goroutine([] { weft::blocking([] {}); });
}
SCENARIO(fork_max_procs) {
  in_child_of_goroutine([] { weft::max_procs(3); });
}
SCENARIO(fork_run) {
  in_child_of_goroutine([] {
    try {
      weft::run([] {});
    } catch (const std::logic_error&) {
      ::_exit(kNotMet + 1);
    }
  });
}
SCENARIO(fork_returns_from_goroutine) {
  weft::run([] {
    static std::atomic<pid_t> pid{0};
    weft::spawn([] {
      pid = ::fork();
    }).join();  // the child's copy ends its goroutine, in nobody's scheduler
    int status = 0;
    weft::blocking([&] { ::waitpid(pid, &status, 0); });
    if (WIFEXITED(status)) say("child exited with %d", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) say("child died of %d", WTERMSIG(status));
  });
}

// A thread that is not weft's forks while a runtime is active.
namespace {
template <class F>
void in_child_of_foreign_thread(F f) {
  weft::runtime active;
  weft::spawn([] { weft::yield(); }).join();
  in_child(f);
  weft::spawn([] { weft::yield(); }).join();
}
}  // namespace

SCENARIO(fork_foreign_go) {
  in_child_of_foreign_thread([] { weft::go([] {}); });
}
SCENARIO(fork_foreign_wait) {
  in_child_of_foreign_thread([] { wait_for_ever(); });
}
SCENARIO(fork_foreign_max_procs) {
  in_child_of_foreign_thread([] {
    try {
      weft::max_procs(3);
    } catch (const std::logic_error&) {
      ::_exit(kNotMet + 1);
    }
  });
}
SCENARIO(fork_foreign_ends_the_runtime) {
  static weft::runtime* active = new weft::runtime;
  weft::spawn([] { weft::yield(); }).join();
  in_child([] { delete active; });
  delete active;
}
SCENARIO(fork_foreign_exit) {
  static weft::runtime active;  // its destructor runs in the child as well
  weft::spawn([] { weft::yield(); }).join();
  in_child([] { std::exit(6); });
}

SCENARIO(fork_before_run) {
  in_child([] {
    weft::run([] { weft::spawn([] { weft::yield(); }).join(); });
    ::_exit(6);
  });
  weft::run([] { weft::spawn([] { weft::yield(); }).join(); });
}

SCENARIO(fork_after_run) {
  weft::run([] { weft::spawn([] { weft::yield(); }).join(); });
  in_child([] {
    weft::run([] { weft::spawn([] { weft::yield(); }).join(); });
    ::_exit(6);
  });
  weft::run([] { weft::spawn([] { weft::yield(); }).join(); });
}

SCENARIO(children_get_the_original_mask) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  ::signal(SIGUSR2, SIG_IGN);
  // libc's ways to start a program differ in what they do with its own signals, so each is compared with itself.
  ask("before system");
  ask_by_spawn("before spawn");
  ask_by_exec("before exec");
  weft::run({.max_procs = 2}, [] {
    ask("in system");
    ask_by_spawn("in spawn");
    ask_by_exec("in exec");
    weft::spawn([] {
      weft::lock_os_thread();
      ask("locked system");
    }).join();
    weft::blocking([] { ask("blocking system"); });
  });
  ask("after system");
  weft::run({.lock_main = true}, [] { ask("main system"); });
}

SCENARIO(system_from_many_goroutines) {
  weft::run([] {
    weft::wait_group all;
    std::atomic<int> ok{0};
    for (int i = 0; i < 20; ++i) {
      all.go([&] { ok += weft::blocking([] { return std::system("exit 0"); }) == 0; });
    }
    all.wait();
    REQUIRE(ok == 20);
  });
}

// --- environment ---

SCENARIO(environment_tells) {
  weft::run([] { say("max_procs=%u", weft::max_procs()); });
}
SCENARIO(environment_is_beaten_by_options) {
  weft::run({.max_procs = 2}, [] { say("max_procs=%u", weft::max_procs()); });
}
SCENARIO(hook_on_misuse) {
  const auto before = weft::on_fatal(
      [](std::string_view m) { say("hook: %.*s", static_cast<int>(m.size()), m.data()); });
  REQUIRE(before == nullptr);
  weft::run([] { weft::wait_group().done(); });
}
