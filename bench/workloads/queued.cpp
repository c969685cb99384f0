// queued.cpp: what n goroutines cost that have been started by `go` and have not run yet.
//
// The spawner does not yield, so on one processor none of them should have run when memory is
// looked at. One that does run early waits for the measurement and keeps its stack until then:
// an early start is paid for in the figure, and `started_early` says how many there were.
#include <atomic>
#include <memory>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

std::string queued(const request& req) {
  std::string figures;
  weft::run({.max_procs = req.procs}, [&] {
    std::atomic<std::size_t> started{0};
    weft::wait_group left;
    weft::event measured;
    left.add(static_cast<std::int32_t>(req.n));
    const std::int64_t before = resident_bytes();
    auto guard = std::make_unique<weft::no_preempt>();  // nobody begins before it is measured
    for (std::size_t i = 0; i < req.n; ++i) {
      weft::go([&] {
        started.fetch_add(1, std::memory_order_relaxed);  // only a count
        measured.wait();
        left.done();
      });
    }
    const std::int64_t after = resident_bytes();
    const auto early = static_cast<double>(started.load());
    guard.reset();
    measured.set();
    left.wait();
    figures = bytes_per_item(after - before, req.n) + "," + member("started_early", early);
  });
  return figures;
}

}  // namespace weft_bench
