// preempt_signal.cpp: runtimes that begin where the signal that stops goroutines is blocked, ignored, or somebody's already.
#include "scenario.hpp"

#include <stdexcept>

using namespace scenario;

namespace {

void block(int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  REQUIRE(::pthread_sigmask(SIG_BLOCK, &one, nullptr) == 0);
}

bool is_default(int number) {
  struct sigaction now{};
  ::sigaction(number, nullptr, &now);
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

// Other goroutines run, whether one that computes can be stopped or not.
void run_and_tell() {
  weft::run([] {
    weft::spawn([] {}).join();
    say("it ran");
  });
}

void refusal_of(int number) {
  try {
    weft::run({.preempt_signal = number}, [] { say("it ran"); });
  } catch (const std::invalid_argument& e) {
    say("refused: %s", e.what());
  }
  weft::run([] { say("the next one ran"); });
}

// Until weft has sent its signal: one computes, and others want its processor.
void stop_somebody() {
  std::atomic<bool> stop{false};
  weft::wait_group loops;
  for (int i = 0; i < 2; ++i)
    loops.go([&] {
      while (!stop.load(std::memory_order_relaxed)) asm volatile("");
    });
  for (int i = 0; i < 5000 && weft::stats().signals_sent == 0; ++i) weft::sleep_for(1ms);
  stop = true;
  loops.wait();
  REQUIRE(weft::stats().signals_sent > 0);
}

std::atomic<int> ncalls{0};
void count_plain(int) { ++ncalls; }
void count_with_info(int, siginfo_t* info, void*) {
  ncalls += info->si_pid == ::getpid() ? 1 : 1000;
}

// The handler that was there before gets what others send, and none of weft's.
void chain_to_the_one_before() {
  weft::run({.max_procs = 1}, [] {
    stop_somebody();
    REQUIRE(ncalls == 0);
    for (int i = 1; i <= 3; ++i) {
      ::raise(SIGURG);
      REQUIRE(ncalls == i);
    }
    say("three went on to it");
  });
}

}  // namespace

SCENARIO(preempt_signal_is_blocked) {
  block(SIGURG);
  run_and_tell();
  REQUIRE(is_default(SIGURG));
}

SCENARIO(preempt_signal_is_ignored) {
  ::signal(SIGURG, SIG_IGN);
  run_and_tell();
  struct sigaction now{};
  ::sigaction(SIGURG, nullptr, &now);
  REQUIRE(now.sa_handler == SIG_IGN);
}

SCENARIO(preempt_signal_that_the_program_chose_is_blocked) {
  block(SIGUSR2);
  refusal_of(SIGUSR2);
}

SCENARIO(preempt_signal_that_the_program_chose_is_ignored) {
  ::signal(SIGUSR2, SIG_IGN);
  refusal_of(SIGUSR2);
}

SCENARIO(preempt_signal_that_nobody_can_catch) { refusal_of(SIGKILL); }

SCENARIO(preempt_signal_has_a_plain_handler) {
  ::signal(SIGURG, &count_plain);
  chain_to_the_one_before();
}

SCENARIO(preempt_signal_has_a_handler_with_info) {
  struct sigaction theirs{};
  theirs.sa_sigaction = &count_with_info;
  theirs.sa_flags = SA_SIGINFO;
  ::sigaction(SIGURG, &theirs, nullptr);
  chain_to_the_one_before();
}

// The environment names another one: SIGURG stays as it was, blocked or not.
SCENARIO(preempt_signal_is_usr1_by_the_environment) {
  block(SIGURG);
  weft::run({.max_procs = 1}, [] {
    REQUIRE(is_default(SIGURG));
    REQUIRE(!is_default(SIGUSR1));
    stop_somebody();
    say("stopped by another one");
  });
}

SCENARIO(preempt_signal_is_usr2_by_the_environment_and_blocked) {
  block(SIGUSR2);
  run_and_tell();
}
