// buffered.cpp: n numbers through one channel with room for 128, from s senders to as many receivers.
//
// The figure is wall time per number: with the work on one channel, more processors can do no better than keep it. 128 and not a rounder
// number, since Boost.Fiber takes powers of two only.
#include <atomic>

#include <weft/chan.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>

#include "workload.hpp"

namespace weft_bench {

namespace {

constexpr std::size_t kRoom = 128;

std::string pass_through(const request& req, std::size_t nsenders) {
  const std::size_t each = req.n / nsenders;
  std::atomic<std::size_t> total{0};
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    auto c = weft::make_chan<std::size_t>(kRoom);
    weft::wait_group senders;
    weft::wait_group receivers;
    const auto begin = clock::now();
    for (std::size_t i = 0; i < nsenders; ++i) {
      receivers.go([c, &total] {
        std::size_t sum = 0;
        for (const std::size_t v : c) sum += v;
        total += sum;
      });
      senders.go([c, each] {
        for (std::size_t v = 1; v <= each; ++v) c.send(v);
      });
    }
    senders.wait();
    c.close();
    receivers.wait();
    elapsed = seconds_since(begin);
  });
  if (total != nsenders * (each * (each + 1) / 2)) fail("buffered lost a value");
  return ns_per_op(elapsed, nsenders * each);
}

}  // namespace

std::string buffered_1x1(const request& req) { return pass_through(req, 1); }
std::string buffered_4x4(const request& req) { return pass_through(req, 4); }

}  // namespace weft_bench
