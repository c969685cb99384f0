// idle.cpp: processor time that a program uses in which n goroutines are parked and the main one
// sleeps. The clock starts as soon as the last goroutine has arrived, so that threads which still
// look for work, and those that end after some seconds of idleness, are part of the figure.
#include <cerrno>
#include <ctime>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

namespace {

void sleep_thread(double seconds) {
  timespec left{};
  left.tv_sec = static_cast<time_t>(seconds);
  left.tv_nsec = static_cast<long>((seconds - static_cast<double>(left.tv_sec)) * 1e9);
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

}  // namespace

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
    weft::blocking([&] { sleep_thread(req.seconds); });
    used = cpu_ms() - before;
    release.set();
    left.wait();
  });
  return member("cpu_ms", used) + "," + member("seconds", req.seconds);
}

}  // namespace weft_bench
