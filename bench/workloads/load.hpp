// load.hpp: loops that only compute, and what they reach: the load beside which preemption is measured.
//
// A loop makes no call at all, so nothing but preemption ends its turn. What the loops of a run reach is compared with what one plain
// thread for each processor reaches in the same process, right before and right after: the *share* they keep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft_bench {

class tight_loops {
 public:
  explicit tight_loops(std::size_t n) : tallies_(n) {}
  tight_loops(const tight_loops&) = delete;
  tight_loops& operator=(const tight_loops&) = delete;

  // Loop i: computes until stop(). Called once for each i.
  void spin(std::size_t i) noexcept;
  void stop() noexcept { is_stopped_.store(true, std::memory_order_relaxed); }  // only a flag

  // All loops together, so far.
  std::uint64_t rounds() const noexcept;

 private:
  struct alignas(64) tally {
    std::atomic<std::uint64_t> rounds{0};
    std::uint64_t result = 0;
  };
  std::atomic<bool> is_stopped_{false};
  std::vector<tally> tallies_;
};

// Rounds per second of n plain threads, each with a loop of its own, measured for so many seconds.
double plain_rate(unsigned n, double seconds);

// Blocks the thread.
void sleep_thread(double seconds) noexcept;

// The value below which this part of them lies, 0 <= part <= 1. There must be one at least.
double quantile(std::vector<double> values, double part);

}  // namespace weft_bench
