// load.cpp: see load.hpp.
#include "load.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <thread>

#include "workload.hpp"

namespace weft_bench {

namespace {

constexpr int kStepsPerRound = 256;
constexpr double kWarmUpSeconds = 0.02;

}  // namespace

void tight_loops::spin(std::size_t i) noexcept {
  tally& mine = tallies_[i];
  std::uint64_t x = i + 1;
  std::uint64_t n = 0;
  while (!is_stopped_.load(std::memory_order_relaxed)) {  // only a flag
    for (int step = 0; step < kStepsPerRound; ++step) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    mine.rounds.store(++n, std::memory_order_relaxed);  // only a count
  }
  mine.result = x;  // or the compiler would leave the work out
}

std::uint64_t tight_loops::rounds() const noexcept {
  std::uint64_t sum = 0;
  for (const tally& t : tallies_) sum += t.rounds.load(std::memory_order_relaxed);  // only a count
  return sum;
}

double plain_rate(unsigned n, double seconds) {
  tight_loops loops(n);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < n; ++i) threads.emplace_back([&loops, i] { loops.spin(i); });
  sleep_thread(kWarmUpSeconds);
  const std::uint64_t before = loops.rounds();
  const auto begin = clock::now();
  sleep_thread(seconds);
  const double rate = static_cast<double>(loops.rounds() - before) / seconds_since(begin);
  loops.stop();
  for (std::thread& thread : threads) thread.join();
  return rate;
}

void sleep_thread(double seconds) noexcept {
  timespec left{};
  left.tv_sec = static_cast<time_t>(seconds);
  left.tv_nsec = static_cast<long>((seconds - static_cast<double>(left.tv_sec)) * 1e9);
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

double quantile(std::vector<double> values, double part) {
  if (values.empty()) fail("no samples");
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(last * part + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace weft_bench
