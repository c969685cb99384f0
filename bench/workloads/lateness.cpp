// lateness.cpp: how late a goroutine wakes that sleeps 1 ms in a loop, while n tight loops take all processors and more.
//
// The share of the processors that the loops keep stands beside it: waking quickly is easy for who wastes them.
#include <chrono>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>

#include "load.hpp"
#include "workload.hpp"

namespace weft_bench {

namespace {

constexpr std::chrono::milliseconds kNap{1};
constexpr double kReferenceSeconds = 0.4;  // before and after
constexpr double kWarmUpSeconds = 0.2;

struct outcome {
  std::vector<double> late_us;
  double loop_rate = 0;
};

// Sleeps and notes how late it woke, for so many seconds.
std::vector<double> sleep_and_note(double seconds) {
  std::vector<double> late_us;
  const auto begin = clock::now();
  while (seconds_since(begin) < seconds) {
    const auto due = clock::now() + kNap;
    weft::sleep_for(kNap);
    late_us.push_back(std::chrono::duration<double, std::micro>(clock::now() - due).count());
  }
  return late_us;
}

outcome disturbed(const request& req) {
  outcome out;
  weft::run({.max_procs = req.procs}, [&] {
    tight_loops loops(req.n);
    weft::wait_group ended;
    for (std::size_t i = 0; i < req.n; ++i) ended.go([&loops, i] { loops.spin(i); });
    sleep_and_note(kWarmUpSeconds);
    const std::uint64_t before = loops.rounds();
    const auto begin = clock::now();
    out.late_us = sleep_and_note(req.seconds);
    out.loop_rate = static_cast<double>(loops.rounds() - before) / seconds_since(begin);
    loops.stop();
    ended.wait();
  });
  return out;
}

}  // namespace

std::string lateness(const request& req) {
  double plain = plain_rate(req.procs, kReferenceSeconds);
  const outcome out = disturbed(req);
  plain = (plain + plain_rate(req.procs, kReferenceSeconds)) / 2;
  return member("p50_us", quantile(out.late_us, 0.5)) + "," +
         member("p99_us", quantile(out.late_us, 0.99)) + "," +
         member("loops_percent", 100 * out.loop_rate / plain) + "," +
         member("wakeups", static_cast<double>(out.late_us.size()));
}

}  // namespace weft_bench
