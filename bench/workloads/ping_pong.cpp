// ping_pong.cpp: for each processor a pair of goroutines that send a number to and fro, n round trips, each adding 1 to it.
//
// Two channels without a buffer, one for each way: each hand-over wakes the partner, and each of them waits for every answer. The figure
// is processor time per round trip: elapsed * procs / (procs * n).
#include <atomic>

#include <weft/chan.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "each_processor.hpp"
#include "workload.hpp"

namespace weft_bench {

std::string ping_pong(const request& req) {
  std::atomic<std::size_t> total{0};
  const double elapsed = on_each_processor(req, [&, n = req.n](weft::wait_group& wg) {
    auto there = weft::make_chan<std::size_t>();
    auto back = weft::make_chan<std::size_t>();
    wg.go([there, back, n] {
      for (std::size_t j = 0; j < n; ++j) back.send(*there.recv() + 1);
    });
    std::size_t ball = 0;
    for (std::size_t j = 0; j < n; ++j) {
      there.send(ball);
      ball = *back.recv() + 1;
    }
    total += ball;
  });
  if (total != 2 * req.procs * req.n) fail("ping_pong lost a ball");
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
