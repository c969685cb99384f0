// memory.cpp: the Boost.Fiber workloads whose figure is what a fiber costs while it does nothing.
//
// Stacks have a guard page here (protected_fixedsize_stack), since weft's and Go's overflows are
// caught too. Each guard splits a mapping in two, and the kernel allows some 65,000 of them: the
// runner therefore asks for 20,000 fibers, not for a million.
#include <atomic>
#include <vector>

#include <boost/fiber/all.hpp>

#include "gate.hpp"
#include "peer.hpp"

namespace peer {

namespace {

// n fibers that wait at a gate.
class crowd {
 public:
  crowd(std::size_t n, boost::fibers::launch when) {
    fibers_.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
      fibers_.emplace_back(when, std::allocator_arg, stacks_, [this] {
        started_.fetch_add(1, std::memory_order_relaxed);  // only a count
        release_.wait();
      });
    }
  }
  std::size_t started() const { return started_; }
  void leave() {
    release_.open();
    for (auto& fiber : fibers_) fiber.join();
  }

 private:
  boost::fibers::protected_fixedsize_stack stacks_;
  gate release_;
  std::atomic<std::size_t> started_{0};
  std::vector<boost::fibers::fiber> fibers_;
};

}  // namespace

// A dispatched fiber runs until it waits, then its creator goes on: when the crowd exists, all of
// it is parked.
std::string parked(const request& req) {
  std::string figures;
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    const std::int64_t before = resident_bytes();
    const auto begin = clock::now();
    crowd everyone(req.n, boost::fibers::launch::dispatch);
    const double created = seconds_since(begin);
    const std::int64_t after = resident_bytes();
    if (everyone.started() != req.n) fail("parked: a fiber has not arrived");
    const auto released = clock::now();
    everyone.leave();
    figures = bytes_per_item(after - before, req.n) + "," + member("seconds", created) + "," +
              member("release_seconds", seconds_since(released));
  });
  return figures;
}

// Fibers that are posted wait in the ready queue, with their stack, until the creator yields.
std::string queued(const request& req) {
  std::string figures;
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    const std::int64_t before = resident_bytes();
    crowd everyone(req.n, boost::fibers::launch::post);
    const std::int64_t after = resident_bytes();
    const auto early = static_cast<double>(everyone.started());
    everyone.leave();
    figures = bytes_per_item(after - before, req.n) + "," + member("started_early", early);
  });
  return figures;
}

std::string idle(const request& req) {
  std::string figures;
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    crowd everyone(req.n, boost::fibers::launch::dispatch);
    const double before = cpu_ms();
    boost::this_fiber::sleep_for(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(req.seconds)));
    const double used = cpu_ms() - before;
    everyone.leave();
    figures = member("cpu_ms", used) + "," + member("seconds", req.seconds);
  });
  return figures;
}

}  // namespace peer
