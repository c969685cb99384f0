// naps.cpp: n goroutines that sleep 10 ms in the kernel again and again, with one call into weft per round, while one for each
// processor computes without a call.
//
// `naps` tells weft nothing: a plain nanosleep, as some library would make it. `naps_blocking` says weft::blocking. Either way the naps
// should not wait for the loops (calls per second, of the ideal n / 10 ms), nor the loops for the naps (what they
// reach, of what plain threads reach).
#include <ctime>

#include <weft/go.hpp>
#include <weft/runtime.hpp>
#include <weft/sync.hpp>
#include <weft/time.hpp>

#include "load.hpp"
#include "workload.hpp"

namespace weft_bench {

namespace {

constexpr long kNapNs = 10'000'000;
constexpr double kReferenceSeconds = 0.4;  // before and after
constexpr double kWarmUpSeconds = 0.5;     // until every sleeper has its thread

void nap() noexcept {
  const timespec length{0, kNapNs};
  ::nanosleep(&length, nullptr);
}

class nappers {
 public:
  nappers(std::size_t n, bool tells) : tallies_(n) {
    for (std::size_t i = 0; i < n; ++i) ended_.go([this, i, tells] { run(tallies_[i], tells); });
  }
  std::uint64_t calls() const noexcept {
    std::uint64_t sum = 0;
    for (const tally& t : tallies_) sum += t.calls.load(std::memory_order_relaxed);  // only a count
    return sum;
  }
  void stop() {
    is_stopped_.store(true, std::memory_order_relaxed);  // only a flag
    ended_.wait();
  }

 private:
  struct alignas(64) tally {
    std::atomic<std::uint64_t> calls{0};
  };

  void run(tally& mine, bool tells) {
    std::uint64_t n = 0;
    while (!is_stopped_.load(std::memory_order_relaxed)) {  // only a flag
      if (tells) {
        weft::blocking(nap);
      } else {
        nap();
      }
      weft::yield();
      mine.calls.store(++n, std::memory_order_relaxed);  // only a count
    }
  }

  std::atomic<bool> is_stopped_{false};
  std::vector<tally> tallies_;
  weft::wait_group ended_;
};

struct rates {
  double calls = 0;
  double loops = 0;
};

rates together(const request& req, bool tells) {
  rates out;
  weft::run({.max_procs = req.procs}, [&] {
    tight_loops loops(req.procs);
    weft::wait_group ended;
    nappers sleepers(req.n, tells);
    for (unsigned i = 0; i < req.procs; ++i) ended.go([&loops, i] { loops.spin(i); });
    weft::sleep_for(std::chrono::duration<double>(kWarmUpSeconds));
    const std::uint64_t calls = sleepers.calls();
    const std::uint64_t rounds = loops.rounds();
    const auto begin = clock::now();
    weft::sleep_for(std::chrono::duration<double>(req.seconds));
    const double elapsed = seconds_since(begin);
    out.calls = static_cast<double>(sleepers.calls() - calls) / elapsed;
    out.loops = static_cast<double>(loops.rounds() - rounds) / elapsed;
    loops.stop();
    ended.wait();
    sleepers.stop();
  });
  return out;
}

std::string measure(const request& req, bool tells) {
  double plain = plain_rate(req.procs, kReferenceSeconds);
  const rates reached = together(req, tells);
  plain = (plain + plain_rate(req.procs, kReferenceSeconds)) / 2;
  const double ideal = static_cast<double>(req.n) * 1e9 / kNapNs;
  return member("calls_percent", 100 * reached.calls / ideal) + "," +
         member("compute_percent", 100 * reached.loops / plain) + "," +
         member("calls_per_second", reached.calls);
}

}  // namespace

std::string naps(const request& req) { return measure(req, false); }
std::string naps_blocking(const request& req) { return measure(req, true); }

}  // namespace weft_bench
