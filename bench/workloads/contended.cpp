// contended.cpp: four goroutines for each processor add 1 to one number under one mutex, n times in all.
//
// The critical section is as short as can be, so what is measured is the mutex: on one processor hardly ever taken when it is wanted,
// on several nearly always. The figure is wall time per turn: there is one number, so more processors cannot make it fall.
#include <mutex>

#include <weft/mutex.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

std::string mutex(const request& req) {
  const std::size_t nworkers = std::size_t{4} * req.procs;
  const std::size_t each = req.n / nworkers;
  std::size_t number = 0;
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    weft::mutex m;
    weft::wait_group wg;
    const auto begin = clock::now();
    for (std::size_t i = 0; i < nworkers; ++i) {
      wg.go([&m, &number, each] {
        for (std::size_t j = 0; j < each; ++j) {
          const std::lock_guard hold(m);
          ++number;
        }
      });
    }
    wg.wait();
    elapsed = seconds_since(begin);
  });
  if (number != nworkers * each) fail("mutex let two in at once");
  return ns_per_op(elapsed, number);
}

}  // namespace weft_bench
