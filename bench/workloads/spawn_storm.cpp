// spawn_storm.cpp: one goroutine starts n others, which count themselves, and waits for them all.
//
// The figure is wall time per goroutine: with one spawner, more processors should make it fall.
#include <atomic>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

std::string spawn_storm(const request& req) {
  std::atomic<std::size_t> counter{0};
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group wg;
    const auto begin = clock::now();
    wg.add(static_cast<std::int32_t>(req.n));
    for (std::size_t i = 0; i < req.n; ++i) {
      weft::go([&] {
        counter.fetch_add(1, std::memory_order_relaxed);  // only a count; wg orders the rest
        wg.done();
      });
    }
    wg.wait();
    elapsed = seconds_since(begin);
  });
  if (counter != req.n) fail("spawn_storm lost a goroutine");
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
