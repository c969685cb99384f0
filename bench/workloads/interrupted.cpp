// interrupted.cpp: what preemption costs the calls of others. n goroutines spin for 1 ms and wait in poll() for 1 ms, by turns, beside two loops
// for each processor: how many of the calls return EINTR?
#include <poll.h>

#include <atomic>
#include <cerrno>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>

#include "load.hpp"
#include "workload.hpp"

namespace weft_bench {

namespace {

void spin_for_1_ms() noexcept {
  const auto until = clock::now() + std::chrono::milliseconds(1);
  while (clock::now() < until) continue;
}

}  // namespace

std::string interrupted(const request& req) {
  std::atomic<std::uint64_t> ncalls{0}, ncut{0};
  weft::run({.max_procs = req.procs}, [&] {
    std::atomic<bool> is_stopped{false};
    tight_loops loops(2 * req.procs);
    weft::wait_group ended;
    for (std::size_t i = 0; i < 2 * req.procs; ++i) ended.go([&loops, i] { loops.spin(i); });
    for (std::size_t i = 0; i < req.n; ++i) {
      ended.go([&] {
        while (!is_stopped.load(std::memory_order_relaxed)) {  // only a flag
          spin_for_1_ms();
          const int result = ::poll(nullptr, 0, 1);
          ncalls.fetch_add(1, std::memory_order_relaxed);  // only counted
          if (result < 0 && errno == EINTR)
            ncut.fetch_add(1, std::memory_order_relaxed);  // only counted
        }
      });
    }
    weft::sleep_for(std::chrono::duration<double>(req.seconds));
    is_stopped.store(true, std::memory_order_relaxed);  // only a flag
    loops.stop();
    ended.wait();
  });
  if (ncalls == 0) fail("no call was made");
  return member("cut_per_mille", 1000 * static_cast<double>(ncut) / static_cast<double>(ncalls)) +
         "," + member("calls", static_cast<double>(ncalls));
}

}  // namespace weft_bench
