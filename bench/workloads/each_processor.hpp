// each_processor.hpp: the same load once for every processor.
#pragma once

#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

// Calls load(wg) in a goroutine for each processor, and gives the seconds until all of wg have ended; a load may start more there.
template <class Load>
double on_each_processor(const request& req, Load load) {
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group wg;
    const auto begin = clock::now();
    for (unsigned i = 0; i < req.procs; ++i) wg.go([&] { load(wg); });
    wg.wait();
    elapsed = seconds_since(begin);
  });
  return elapsed;
}

}  // namespace weft_bench
