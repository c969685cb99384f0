// signal_name.cpp: see signal_name.hpp.
#include "os/signal_name.hpp"

#include <signal.h>

#include "os/parse.hpp"

namespace weft::os {
namespace {

struct known_signal {
  std::string_view name;
  int number;
};

constexpr known_signal kKnown[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},
    {"TRAP", SIGTRAP}, {"ABRT", SIGABRT},     {"BUS", SIGBUS},   {"FPE", SIGFPE},
    {"KILL", SIGKILL}, {"USR1", SIGUSR1},     {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},     {"TERM", SIGTERM}, {"STKFLT", SIGSTKFLT},
    {"CHLD", SIGCHLD}, {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},
    {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},     {"PWR", SIGPWR},       {"SYS", SIGSYS},
};

}  // namespace

int signal_number(std::string_view name) noexcept {
  if (const auto number = parse_number<int>(name))
    return *number >= 1 && *number <= kHighestSignal ? *number : 0;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const known_signal& known : kKnown) {
    if (known.name == name) return known.number;
  }
  return 0;
}

void append_signal_name(text& out, int number) noexcept {
  for (const known_signal& known : kKnown) {
    if (known.number != number) continue;
    out << "SIG" << known.name;
    return;
  }
  out << "signal " << number;
}

}  // namespace weft::os
