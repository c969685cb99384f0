// spawn_join.cpp: on each processor a loop that starts a goroutine and waits for its end, n times.
//
// The figure is processor time per goroutine: elapsed * procs / (procs * n).
#include <atomic>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "each_processor.hpp"
#include "workload.hpp"

namespace weft_bench {

namespace {

std::size_t join_loop(std::size_t n) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    weft::spawn([&sum] { ++sum; }).join();
  }
  return sum;
}

}  // namespace

std::string spawn_join(const request& req) {
  std::atomic<std::size_t> total{0};
  const double elapsed =
      on_each_processor(req, [&](weft::wait_group&) { total += join_loop(req.n); });
  if (total != req.procs * req.n) fail("spawn_join lost a goroutine");
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
