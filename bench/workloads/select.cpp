// select.cpp: select over 2 and over 8 channels that has to wait, and over 8 that are all ready.
//
// Waiting: ping_pong with a select on either side. Each of two goroutines waits at its own channels and is fed, by turns at each of
// them, by the other; so every select enters all its channels, parks, is woken and leaves them. One pair for each processor.
// Ready: one goroutine for each processor selects among eight channels that hold a value each, and puts back what it got.
// The figure is processor time per select.
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include <weft/chan.hpp>
#include <weft/runtime.hpp>
#include <weft/select.hpp>
#include <weft/sync.hpp>

#include "each_processor.hpp"
#include "workload.hpp"

namespace weft_bench {

namespace {

using channels = std::vector<weft::chan<std::size_t>>;

template <std::size_t... I>
std::size_t recv_any(const channels& c, std::index_sequence<I...>) {
  std::size_t got = 0;
  weft::select(weft::on_recv(c[I], [&](std::optional<std::size_t> v) { got = *v; })...);
  return got;
}

template <std::size_t N>
std::size_t recv_any(const channels& c) {
  return recv_any(c, std::make_index_sequence<N>());
}

channels made(std::size_t n, std::size_t room) {
  channels c;
  for (std::size_t i = 0; i < n; ++i) c.push_back(weft::make_chan<std::size_t>(room));
  return c;
}

// n round trips.
template <std::size_t N>
std::string pairs(const request& req) {
  std::atomic<std::size_t> total{0};
  const double elapsed = on_each_processor(req, [&, n = req.n](weft::wait_group& wg) {
    const channels there = made(N, 0);
    const channels back = made(N, 0);
    wg.go([there, back, n] {
      for (std::size_t j = 0; j < n; ++j) back[j % N].send(recv_any<N>(there) + 1);
    });
    std::size_t ball = 0;
    for (std::size_t j = 0; j < n; ++j) {
      there[j % N].send(ball);
      ball = recv_any<N>(back) + 1;
    }
    total += ball;
  });
  if (total != 2 * req.procs * req.n) fail("select lost a ball");
  return ns_per_op(elapsed, 2 * req.n);
}

// Chooses n times among N that are ready; each value is the index of its channel.
template <std::size_t... I>
std::size_t choose(const channels& c, std::size_t n, std::index_sequence<I...>) {
  std::size_t sum = 0;
  for (std::size_t j = 0; j < n; ++j) {
    weft::select(weft::on_recv(c[I], [&](std::optional<std::size_t> v) {
      sum += *v;
      c[I].send(*v);
    })...);
  }
  return sum;
}

}  // namespace

std::string select_2(const request& req) { return pairs<2>(req); }
std::string select_8(const request& req) { return pairs<8>(req); }

std::string select_ready(const request& req) {
  constexpr std::size_t kChannels = 8;
  std::atomic<std::size_t> total{0};
  const double elapsed = on_each_processor(req, [&, n = req.n](weft::wait_group&) {
    const channels c = made(kChannels, 1);
    for (const auto& one : c) one.send(1);
    total += choose(c, n, std::make_index_sequence<kChannels>());
  });
  if (total != req.procs * req.n) fail("select_ready lost a value");
  return ns_per_op(elapsed, req.n);
}

}  // namespace weft_bench
