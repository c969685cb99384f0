// processes.cpp: programs that are started, and signals that are waited for.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include <weft/io.hpp>

#include "os/fault.hpp"
#include "scenario.hpp"

using namespace faults;
using namespace std::chrono_literals;
namespace io = weft::io;

namespace {

void in_runtime(void (*f)()) {
  weft::run({.max_procs = 2}, [f] {
    {
      (void)io::pipe();
    }
    f();
  });
}

}  // namespace

SCENARIO(command) {
  in_runtime([] {
    attempt([] {
      const io::command_result r = io::run_command({"/bin/cat"}, {}, "hello");
      REQUIRE(r.status.success() && r.out == "hello");
    });
  });
}

SCENARIO(command_without_input) {
  in_runtime([] { attempt([] { REQUIRE(io::run_command({"/bin/cat"}).status.success()); }); });
}

namespace {

void start_and_kill() {
  const io::process p = io::process::start({"/bin/sleep", "30"});
  try {
    p.kill(SIGTERM);
  } catch (...) {
    ::kill(p.pid(), SIGKILL);
    (void)p.wait();
    throw;
  }
  REQUIRE(p.wait().signal == SIGTERM);
}

}  // namespace

SCENARIO(kill) {
  in_runtime([] { attempt(&start_and_kill); });
}

// In a sandbox that does not know pidfds well.
SCENARIO(kill_by_number) {
  in_runtime([] {
    weft::os::arm_fault(weft::os::site::child_signal, {.error = EPERM});
    attempt(&start_and_kill);
  });
}

SCENARIO(signals) {
  in_runtime([] {
    attempt_anyhow([] {
      const auto news = io::signal_chan(SIGUSR1, SIGUSR2);
      for (const int number : {SIGUSR1, SIGUSR2}) {
        ::kill(::getpid(), number);
        const auto got = news.recv(weft::with_timeout(weft::background(), 20s).ctx);
        REQUIRE(got == number);
      }
      io::stop_signals(news);
    });
  });
}
