// yield.cpp: two goroutines for each processor, each of which yields n times.
//
// The figure is processor time per yield: elapsed * procs / (2 * procs * n).
#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

std::string yield(const request& req) {
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group wg;
    const auto begin = clock::now();
    for (unsigned i = 0; i < 2 * req.procs; ++i) {
      wg.go([n = req.n] {
        for (std::size_t j = 0; j < n; ++j) weft::yield();
      });
    }
    wg.wait();
    elapsed = seconds_since(begin);
  });
  return ns_per_op(elapsed, 2 * req.n);
}

}  // namespace weft_bench
