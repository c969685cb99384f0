// speed.cpp: the Boost.Fiber workloads whose figure is a time per operation.
//
// Fibers that are started to run at once and end soon use launch::dispatch on stacks from a pool:
// of the pairs {post, dispatch} x {fixedsize, pooled, protected} this one is the quickest, and the
// documentation advises the pool for exactly this use. The pool has no lock and no guard pages. A
// dispatched fiber runs and ends before anyone could steal it, so each pool stays on its thread.
#include <atomic>

#include <boost/fiber/all.hpp>

#include "peer.hpp"

namespace peer {

namespace {

template <class F>
boost::fibers::fiber start(boost::fibers::pooled_fixedsize_stack& stacks, F& body) {
  return {boost::fibers::launch::dispatch, std::allocator_arg, stacks, body};
}

}  // namespace

// Two fibers on each thread, each of which yields n times.
std::string yield(const request& req) {
  const auto begin = clock::now();
  on_threads(req.procs, [&](unsigned) {
    const auto body = [&] {
      for (std::size_t i = 0; i < req.n; ++i) boost::this_fiber::yield();
    };
    boost::fibers::fiber first(body);
    boost::fibers::fiber second(body);
    first.join();
    second.join();
  });
  return ns_per_op(seconds_since(begin), 2 * req.n);
}

// On each thread a loop that starts a fiber and waits for its end, n times.
std::string spawn_join(const request& req) {
  std::atomic<std::size_t> total{0};
  const auto begin = clock::now();
  on_threads(req.procs, [&](unsigned) {
    boost::fibers::pooled_fixedsize_stack stacks;
    std::size_t sum = 0;
    const auto body = [&] { ++sum; };
    for (std::size_t i = 0; i < req.n; ++i) start(stacks, body).join();
    total += sum;
  });
  const double elapsed = seconds_since(begin);
  if (total != req.procs * req.n) fail("spawn_join lost a fiber");
  return ns_per_op(elapsed, req.n);
}

// One fiber starts n others, which count themselves. Dispatched fibers have ended when their
// constructor returns (none of them parks), so there is nobody left to wait for at the end.
std::string spawn_storm(const request& req) {
  std::atomic<std::size_t> counter{0};
  const auto begin = clock::now();
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    boost::fibers::pooled_fixedsize_stack stacks;
    const auto body = [&] { counter.fetch_add(1, std::memory_order_relaxed); };  // only a count
    for (std::size_t i = 0; i < req.n; ++i) start(stacks, body).detach();
  });
  const double elapsed = seconds_since(begin);
  if (counter != req.n) fail("spawn_storm lost a fiber");
  return ns_per_op(elapsed, req.n);
}

}  // namespace peer
