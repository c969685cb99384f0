// ring.cpp: 503 goroutines in a ring, joined by channels without a buffer; one token makes n hops.
//
// At any moment one goroutine has something to do and 502 wait, so the figure is wall time per hop, and a second processor can only be in
// the way: whoever wakes the next one elsewhere pays for it at each hop.
#include <atomic>
#include <vector>

#include <weft/chan.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

namespace {

constexpr std::size_t kMembers = 503;

}  // namespace

std::string ring(const request& req) {
  std::atomic<std::size_t> hops{0};
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    std::vector<weft::chan<std::size_t>> links;
    for (std::size_t i = 0; i < kMembers; ++i) links.push_back(weft::make_chan<std::size_t>());
    weft::wait_group wg;
    for (std::size_t i = 0; i < kMembers; ++i) {
      wg.go([&hops, from = links[i], to = links[(i + 1) % kMembers]] {
        std::size_t seen = 0;
        // The token says how many hops are left; who gets the last one closes the ring behind itself, and so does each after it.
        for (const std::size_t left : from) {
          ++seen;
          if (left == 1) break;
          to.send(left - 1);
        }
        hops += seen;
        to.close();
      });
    }
    const auto begin = clock::now();
    links[0].send(req.n);
    wg.wait();
    elapsed = seconds_since(begin);
  });
  if (hops != req.n) fail("ring lost the token");
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
