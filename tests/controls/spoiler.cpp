// spoiler.cpp: a program without weft, whose signal handler does what weft's must not (HAZARDS 40 and 42).
//
//   spoiler <work> <handler>     0: every result was right; 1: some were wrong, as it says; or it dies of it, or hangs
//
//   work     malloc throw errno red_zone vectors compute
//   handler  nothing      only counts
//            switch       goes on with another context of the same thread, in the middle of whatever it has met
//            errno red_zone flags vectors      spoils this
//
// A timer sends the signal as often as the kernel's clock lets it, a hundred times in all; there is but one thread.
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "support/checked_work.hpp"

namespace {

constexpr int kSignals = 100;
volatile sig_atomic_t nsignals = 0;
std::string_view handler;

// --- the contexts that `switch` goes round ---

constexpr int kContexts = 4;
ucontext_t contexts[kContexts];
int current = 0;

void go_to_the_next() {
  const int from = current;
  current = (current + 1) % kContexts;
  ::swapcontext(&contexts[from], &contexts[current]);
}

#if defined(__x86_64__)
void spoil(std::string_view what, ucontext_t& program) {
  auto& registers = program.uc_mcontext.gregs;
  if (what == "red_zone") std::memset(reinterpret_cast<char*>(registers[REG_RSP]) - 128, 0x11, 128);
  if (what == "flags") registers[REG_EFL] ^= 1;  // carry
  if (what == "vectors")
    std::memset(program.uc_mcontext.fpregs->_xmm, 0x11, sizeof(_libc_xmmreg) * 16);
}
#else
void spoil(std::string_view, ucontext_t&) {}
#endif

void handle(int, siginfo_t*, void* context) {
  nsignals = nsignals + 1;
  if (handler == "switch") go_to_the_next();
  if (handler == "errno") errno = 99;
  spoil(handler, *static_cast<ucontext_t*>(context));
}

bool piece_of(std::string_view work, int i) {
  if (work == "malloc") return weft::test::allocates(static_cast<std::size_t>(i));
  if (work == "throw") return weft::test::throws(static_cast<std::size_t>(i));
  if (work == "errno") return weft::test::keeps_errno(i + 1);
#if defined(__x86_64__)
  if (work == "red_zone") return weft::test::keeps_red_zone_and_flags();
  if (work == "vectors") return weft::test::vectors(static_cast<unsigned>(i));
#endif
  for (int k = 0; k < 100'000; ++k) asm volatile("");
  return true;
}

std::string_view work;
long nwrong = 0;
long npieces = 0;

void run(int i) {
  while (nsignals < kSignals) {
    nwrong += !piece_of(work, i);
    ++npieces;
  }
  const itimerval none{};
  ::setitimer(ITIMER_PROF, &none, nullptr);
  std::printf("%ld of %ld results were wrong, after %d signals\n", nwrong, npieces,
              static_cast<int>(nsignals));
  std::fflush(stdout);
  ::_exit(nwrong != 0 ? 1 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  work = argv[1];
  handler = argv[2];
  for (int i = 1; i < kContexts; ++i) {
    constexpr std::size_t kStack = 256 << 10;
    ::getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = new char[kStack];
    contexts[i].uc_stack.ss_size = kStack;
    ::makecontext(&contexts[i], reinterpret_cast<void (*)()>(&run), 1, i);
  }
  struct sigaction action{};
  action.sa_sigaction = &handle;
  action.sa_flags =
      SA_SIGINFO | SA_RESTART | SA_NODEFER;  // whoever is switched to must hear the next one
  ::sigaction(SIGPROF, &action, nullptr);
  const itimerval every{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_PROF, &every, nullptr);
  run(0);
}
