// skynet.cpp: a tree of goroutines with n leaves, ten children each; every leaf sends its number up, every other node the sum of its
// children's. n is a power of ten.
//
// The figure is wall time per leaf.
#include <weft/chan.hpp>
#include <weft/go.hpp>
#include <weft/runtime.hpp>

#include "workload.hpp"

namespace weft_bench {

namespace {

constexpr std::size_t kChildren = 10;

using sums = weft::chan<std::size_t>;

// The channels have room for all children, so none of them waits; without a buffer it is no quicker, in Go neither.
void node(const sums& up, std::size_t number, std::size_t size) {
  if (size == 1) {
    up.send(number);
    return;
  }
  auto down = weft::make_chan<std::size_t>(kChildren);
  const std::size_t part = size / kChildren;
  for (std::size_t i = 0; i < kChildren; ++i) {
    weft::go([down, first = number + i * part, part] { node(down, first, part); });
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i < kChildren; ++i) sum += *down.recv();
  up.send(sum);
}

}  // namespace

std::string skynet(const request& req) {
  std::size_t sum = 0;
  double elapsed = 0;
  weft::run({.max_procs = req.procs}, [&] {
    const auto begin = clock::now();
    auto result = weft::make_chan<std::size_t>(1);
    weft::go([result, n = req.n] { node(result, 0, n); });
    sum = *result.recv();
    elapsed = seconds_since(begin);
  });
  if (sum != req.n * (req.n - 1) / 2) fail("skynet has a wrong sum");
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
