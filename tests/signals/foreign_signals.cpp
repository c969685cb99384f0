// foreign_signals.cpp: preloaded into a program, sends it 1,000 signals a second of each of three kinds that are not weft's.
//
// Timers of the kernel send them, so the program has no thread more than it would have; the kernel picks one of its threads. The
// handlers are a usual program's: calls that can be restarted are, and they run on whatever stack they interrupt.
// At exit it says how many came.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kSignals[] = {SIGURG, SIGCHLD, SIGWINCH};
std::atomic<unsigned long> ncame{0};
pid_t whole_program = 0;

void count(int) { ncame.fetch_add(1, std::memory_order_relaxed); }  // only counted

void die(const char* what) {
  std::perror(what);
  std::_Exit(70);
}

[[gnu::constructor]] void send_for_ever() {
  whole_program = ::getpid();
  ::unsetenv("LD_PRELOAD");  // what it starts is left alone
  for (const int number : kSignals) {
    struct sigaction action{};
    action.sa_handler = &count;
    action.sa_flags = SA_RESTART;
    if (::sigaction(number, &action, nullptr) != 0) die("foreign_signals: sigaction");

    sigevent how{};
    how.sigev_notify = SIGEV_SIGNAL;
    how.sigev_signo = number;
    timer_t timer;
    if (::timer_create(CLOCK_MONOTONIC, &how, &timer) != 0) die("foreign_signals: timer_create");
    constexpr timespec kEvery{0, 1'000'000};
    const itimerspec spec{kEvery, kEvery};
    if (::timer_settime(timer, 0, &spec, nullptr) != 0) die("foreign_signals: timer_settime");
  }
}

[[gnu::destructor]] void say_how_many() {
  if (::getpid() == whole_program)
    std::fprintf(stderr, "foreign_signals: %lu came\n", ncame.load());
}

}  // namespace
