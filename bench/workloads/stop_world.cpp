// stop_world.cpp: how long the world stands still when every processor runs a tight loop.
//
// Changing max_procs is the public way to stop the world: the time of that call, n times, by turns one up and one down. Between two
// of them the caller sleeps 1 ms, so that the loops have all processors when the next one comes. There is a loop
// for each, the additional one included. `seconds` is the limit for those who need long.
#include <chrono>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>

#include "load.hpp"
#include "workload.hpp"

namespace weft_bench {

namespace {

constexpr std::chrono::milliseconds kBetween{1};

std::vector<double> stop_often(const request& req) {
  std::vector<double> took_us;
  const auto begin = clock::now();
  while (took_us.size() < req.n && seconds_since(begin) < req.seconds) {
    weft::sleep_for(kBetween);
    const unsigned wanted = req.procs + (took_us.size() + 1) % 2;
    const auto before = clock::now();
    weft::max_procs(wanted);
    took_us.push_back(seconds_since(before) * 1e6);
  }
  return took_us;
}

}  // namespace

std::string stop_world(const request& req) {
  std::vector<double> took_us;
  weft::run({.max_procs = req.procs}, [&] {
    tight_loops loops(req.procs + 1);
    weft::wait_group ended;
    for (unsigned i = 0; i <= req.procs; ++i) ended.go([&loops, i] { loops.spin(i); });
    weft::sleep_for(100 * kBetween);
    const std::uint64_t before = weft::stats().world_stops;
    took_us = stop_often(req);
    if (weft::stats().world_stops - before < took_us.size()) fail("the world was not stopped");
    loops.stop();
    ended.wait();
  });
  return member("p50_us", quantile(took_us, 0.5)) + "," +
         member("p99_us", quantile(took_us, 0.99)) + "," +
         member("stops", static_cast<double>(took_us.size()));
}

}  // namespace weft_bench
