// checkpoint.cpp: what a place costs where a goroutine lets itself be asked, when nobody asks: on each processor a loop of n.
//
// The figure is processor time per call, the loop included: elapsed * procs / (procs * n).
#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

std::string checkpoint(const request& req) {
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group wg;
    const auto begin = clock::now();
    for (unsigned i = 0; i < req.procs; ++i) {
      wg.go([n = req.n] {
        for (std::size_t j = 0; j < n; ++j) weft::checkpoint();
      });
    }
    wg.wait();
    elapsed = seconds_since(begin);
  });
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
