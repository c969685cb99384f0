// timers.cpp: what sleeping costs.
//
// `sleep`: n goroutines sleep 1 ms in a loop; the figure is processor time per sleep, so who sleeps longer than asked gains nothing.
// `timers`: n goroutines are parked; then all of them go to sleep, for `seconds` and up to a second more, evenly spread. Time and memory
// are looked at when all of them sleep, processor time when all have woken: sleep, wake-up and end together.
#include <atomic>
#include <chrono>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>

#include "workload.hpp"

namespace weft_bench {

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
    std::atomic<std::size_t> early{0};
    for (weft::wait_group* wg : {&made, &armed, &left}) wg->add(static_cast<std::int32_t>(req.n));
    const std::int64_t before = resident_bytes();
    for (std::size_t i = 0; i < req.n; ++i) {
      const double wanted = req.seconds + static_cast<double>(i) / static_cast<double>(req.n);
      weft::go([&, wanted] {
        made.done();
        begin.wait();
        armed.done();
        const auto asleep = clock::now();
        weft::sleep_for(std::chrono::duration<double>(wanted));
        if (seconds_since(asleep) < wanted) early.fetch_add(1, std::memory_order_relaxed);
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
    if (early != 0) fail("timers: somebody woke too early");
    figures =
        bytes_per_item(with - before, req.n) + "," + member("seconds", took) + "," +
        member("cpu_us_each", cpu_us / static_cast<double>(req.n)) + "," +
        member("timer_bytes", static_cast<double>(with - without) / static_cast<double>(req.n));
  });
  return figures;
}

}  // namespace weft_bench
