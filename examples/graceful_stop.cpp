// graceful_stop.cpp: a service that finishes what it is doing when it is told to stop, by Ctrl-C or by the system.
//
// The signal ends a context, and everyone who works for it knows. A second signal would have its usual effect: nobody listens any more.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include <weft/io.hpp>
#include <weft/weft.hpp>

using namespace std::chrono_literals;

int main() {
  return weft::run([] {
    auto [ctx, cancel] = weft::with_cancel(weft::background());
    weft::go([stop = weft::io::signals(SIGINT, SIGTERM), cancel = cancel] {
      if (stop.recv()) cancel();
    });

    weft::wait_group workers;
    for (int i = 0; i < 3; ++i) {
      workers.go([i, ctx = ctx] {
        int nrounds = 0;
        for (; !ctx.err(); ++nrounds) weft::sleep_for(5ms);  // a piece of work
        std::printf("worker %d did %s and stops\n", i, nrounds > 0 ? "its rounds" : "nothing");
      });
    }

    weft::sleep_for(50ms);
    ::kill(::getpid(), SIGTERM);  // so that this example ends; else a user would
    workers.wait();
    std::puts("all have stopped");
  });
}
