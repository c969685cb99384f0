// timers.cpp: what sleeping costs, and how late sleepers wake.
//
// `nap`: a goroutine sleeps 100 us in a loop, and nothing else happens; the figure is how late it wakes. Beside it stands what the kernel
// itself does: a thread in nanosleep() that has asked for exact wake-ups.
// `sleep`: n goroutines sleep 1 ms in a loop; the figure is processor time per sleep, so who sleeps longer than asked gains nothing.
// `timers`: n goroutines are parked; then all of them go to sleep, for `seconds` and up to a second more, evenly spread. Time and memory
// are looked at when all of them sleep, processor time when all have woken: sleep, wake-up and end together. Overrun is how late they
// wake: a million in one second are work.
#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>

#include "load.hpp"
#include "workload.hpp"

namespace weft_bench {

namespace {

double us_since(clock::time_point start) { return seconds_since(start) * 1e6; }

constexpr double kNapUs = 100;

// How late `sleep_once` ends, for so many seconds.
template <class SleepOnce>
std::vector<double> note_naps(double seconds, SleepOnce sleep_once) {
  std::vector<double> late_us;
  const auto begin = clock::now();
  while (seconds_since(begin) < seconds) {
    const auto asleep = clock::now();
    sleep_once();
    late_us.push_back(us_since(asleep) - kNapUs);
  }
  return late_us;
}

std::vector<double> note_kernel_naps(double seconds) {
  std::vector<double> late_us;
  std::thread([&] {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    late_us = note_naps(seconds, [] {
      const timespec length{0, static_cast<long>(kNapUs * 1e3)};
      ::nanosleep(&length, nullptr);
    });
  }).join();
  return late_us;
}

}  // namespace

std::string nap(const request& req) {
  std::vector<double> late_us;
  weft::run({.max_procs = req.procs}, [&] {
    const auto sleep_once = [] {
      weft::sleep_for(std::chrono::duration<double, std::micro>(kNapUs));
    };
    note_naps(0.1, sleep_once);
    late_us = note_naps(req.seconds, sleep_once);
  });
  return member("p50_us", quantile(late_us, 0.5)) + "," +
         member("p99_us", quantile(late_us, 0.99)) + "," +
         member("kernel_p50_us", quantile(note_kernel_naps(req.seconds), 0.5));
}

std::string sleep(const request& req) {
  std::atomic<std::size_t> slept{0};
  double used = 0;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group wg;
    const auto begin = clock::now();
    const double before = cpu_ms();
    for (std::size_t i = 0; i < req.n; ++i) {
      wg.go([&] {
        std::size_t mine = 0;
        for (; seconds_since(begin) < req.seconds; ++mine)
          weft::sleep_for(std::chrono::milliseconds(1));
        slept += mine;
      });
    }
    wg.wait();
    used = cpu_ms() - before;
  });
  return member("ns_per_op", used * 1e6 / static_cast<double>(slept)) + "," +
         member("sleeps", static_cast<double>(slept));
}

std::string timers(const request& req) {
  std::string figures;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group made;
    weft::wait_group armed;
    weft::wait_group left;
    weft::event begin;
    std::vector<double> late_us(req.n);
    for (weft::wait_group* wg : {&made, &armed, &left}) wg->add(static_cast<std::int32_t>(req.n));
    const std::int64_t before = resident_bytes();
    for (std::size_t i = 0; i < req.n; ++i) {
      const double wanted = req.seconds + static_cast<double>(i) / static_cast<double>(req.n);
      weft::go([&, i, wanted] {
        made.done();
        begin.wait();
        armed.done();
        const auto asleep = clock::now();
        weft::sleep_for(std::chrono::duration<double>(wanted));
        late_us[i] = us_since(asleep) - wanted * 1e6;
        left.done();
      });
    }
    made.wait();
    const std::int64_t without = resident_bytes();
    const double cpu_before = cpu_ms();
    const auto released = clock::now();
    begin.set();
    armed.wait();
    const double took = seconds_since(released);
    const std::int64_t with = resident_bytes();
    if (took > req.seconds) fail("timers: some woke before all slept; more seconds are needed");
    left.wait();
    const double cpu_us = (cpu_ms() - cpu_before) * 1e3;
    // What the clock's nanoseconds lose as doubles is far less than this.
    if (quantile(late_us, 0) < -0.01) fail("timers: somebody woke too early");
    figures =
        bytes_per_item(with - before, req.n) + "," + member("seconds", took) + "," +
        member("cpu_us_each", cpu_us / static_cast<double>(req.n)) + "," +
        member("late_p50_us", quantile(late_us, 0.5)) + "," +
        member("late_p99_us", quantile(late_us, 0.99)) + "," +
        member("timer_bytes", static_cast<double>(with - without) / static_cast<double>(req.n));
  });
  return figures;
}

}  // namespace weft_bench
