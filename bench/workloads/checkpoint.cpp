// checkpoint.cpp: what a place costs where a goroutine lets itself be asked, when nobody asks: on each processor a loop of n.
//
// The figure is processor time per call, the loop included: elapsed * procs / (procs * n).
#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "each_processor.hpp"
#include "workload.hpp"

namespace weft_bench {

std::string checkpoint(const request& req) {
  const double elapsed = on_each_processor(req, [n = req.n](weft::wait_group&) {
    for (std::size_t j = 0; j < n; ++j) weft::checkpoint();
  });
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
