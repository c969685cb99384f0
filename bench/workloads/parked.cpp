// parked.cpp: what n goroutines that wait for the same event cost: bytes each, and the time from
// the first `go` until the last of them has arrived.
//
// Bytes are the growth of resident memory and page tables together, so stacks, guards, Gs and
// queues all count. A goroutine that has reported may not be parked yet; that is true of a handful
// at most, in every contestant, and they have their stack by then.
#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

std::string parked(const request& req) {
  std::string figures;
  weft::run({.max_procs = req.procs}, [&] {
    weft::wait_group arrived;
    weft::wait_group left;
    weft::event release;
    arrived.add(static_cast<std::int32_t>(req.n));
    left.add(static_cast<std::int32_t>(req.n));
    const std::int64_t before = resident_bytes();
    const auto begin = clock::now();
    for (std::size_t i = 0; i < req.n; ++i) {
      weft::go([&] {
        arrived.done();
        release.wait();
        left.done();
      });
    }
    arrived.wait();
    const double created = seconds_since(begin);
    const std::int64_t after = resident_bytes();
    const auto opened = clock::now();
    release.set();
    left.wait();
    figures = bytes_per_item(after - before, req.n) + "," + member("seconds", created) + "," +
              member("release_seconds", seconds_since(opened));
  });
  return figures;
}

}  // namespace weft_bench
