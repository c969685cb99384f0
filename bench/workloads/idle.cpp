// idle.cpp: processor time that a program uses in which n goroutines are parked and the main one
// sleeps. The clock starts as soon as the last goroutine has arrived, so that threads which still
// look for work, and those that end after some seconds of idleness, are part of the figure.
#include <chrono>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>

#include "workload.hpp"

namespace weft_bench {

std::string idle(const request& req) {
  double used = 0;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group arrived;
    weft::wait_group left;
    weft::event release;
    for (std::size_t i = 0; i < req.n; ++i) {
      arrived.add();
      left.go([&] {
        arrived.done();
        release.wait();
      });
    }
    arrived.wait();
    const double before = cpu_ms();
    weft::sleep_for(std::chrono::duration<double>(req.seconds));
    used = cpu_ms() - before;
    release.set();
    left.wait();
  });
  return member("cpu_ms", used) + "," + member("seconds", req.seconds);
}

}  // namespace weft_bench
