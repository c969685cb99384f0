// preempt.cpp: the Boost.Fiber workloads about fibers that do not give up their thread: tight loops, and calls that block.
//
// Nothing takes a thread from a fiber, so whoever waits behind a loop waits until it ends. A plain thread keeps the time and ends the
// loops: a run is bounded, and a fiber that was not seen again before that is said to starve.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <thread>
#include <vector>

#include <boost/fiber/all.hpp>

#include "peer.hpp"

namespace peer {

namespace {

constexpr int kStepsPerRound = 256;
constexpr double kReferenceSeconds = 0.4;  // before and after
constexpr double kWarmUpSeconds = 0.5;
constexpr long kNapNs = 10'000'000;
constexpr std::size_t kFewWakeUps = 10;  // in seconds, of one that sleeps a millisecond

struct alignas(64) tally {
  std::atomic<std::uint64_t> n{0};
  std::uint64_t result = 0;
};

std::uint64_t sum(const std::vector<tally>& tallies) {
  std::uint64_t total = 0;
  for (const tally& t : tallies) total += t.n.load(std::memory_order_relaxed);  // only a count
  return total;
}

void sleep_thread(double seconds) {
  timespec left{};
  left.tv_sec = static_cast<time_t>(seconds);
  left.tv_nsec = static_cast<long>((seconds - static_cast<double>(left.tv_sec)) * 1e9);
  while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

// Computes without a call until it is stopped.
void spin(const std::atomic<bool>& is_stopped, tally& mine) {
  std::uint64_t x = 1;
  std::uint64_t n = 0;
  while (!is_stopped.load(std::memory_order_relaxed)) {  // only a flag
    for (int step = 0; step < kStepsPerRound; ++step) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
    }
    mine.n.store(++n, std::memory_order_relaxed);  // only a count
  }
  mine.result = x;
}

// Rounds per second of one plain thread for each processor.
double plain_rate(unsigned procs) {
  std::atomic<bool> is_stopped{false};
  std::vector<tally> tallies(procs);
  std::vector<std::thread> threads;
  for (tally& mine : tallies) threads.emplace_back([&] { spin(is_stopped, mine); });
  sleep_thread(0.02);
  const std::uint64_t before = sum(tallies);
  const auto begin = clock::now();
  sleep_thread(kReferenceSeconds);
  const double rate = static_cast<double>(sum(tallies) - before) / seconds_since(begin);
  is_stopped = true;
  for (std::thread& thread : threads) thread.join();
  return rate;
}

struct rates {
  double loops = 0;
  double others = 0;
};

// Runs `nloops` fibers that compute and `nothers` that call other(is_stopped, tally) beside them, and says what both reach per second.
template <class Other>
rates together(const request& req, std::size_t nloops, std::size_t nothers, Other other) {
  std::atomic<bool> is_stopped{false};
  std::vector<tally> loops(nloops);
  std::vector<tally> others(nothers);
  rates out;
  std::thread timekeeper([&] {
    sleep_thread(kWarmUpSeconds);
    const std::uint64_t loops_before = sum(loops);
    const std::uint64_t others_before = sum(others);
    const auto begin = clock::now();
    sleep_thread(req.seconds);
    const double elapsed = seconds_since(begin);
    out.loops = static_cast<double>(sum(loops) - loops_before) / elapsed;
    out.others = static_cast<double>(sum(others) - others_before) / elapsed;
    is_stopped = true;
  });
  on_threads(req.procs, [&](unsigned index) {
    if (index != 0) return;
    std::vector<boost::fibers::fiber> fibers;
    for (tally& mine : others) fibers.emplace_back([&] { other(is_stopped, mine); });
    for (tally& mine : loops) fibers.emplace_back([&] { spin(is_stopped, mine); });
    for (auto& fiber : fibers) fiber.join();
  });
  timekeeper.join();
  return out;
}

}  // namespace

std::string lateness(const request& req) {
  double plain = plain_rate(req.procs);
  std::vector<double> late_us;
  const auto sleeper = [&](const std::atomic<bool>& is_stopped, tally&) {
    while (!is_stopped.load(std::memory_order_relaxed)) {  // only a flag
      const auto due = clock::now() + std::chrono::milliseconds(1);
      boost::this_fiber::sleep_for(std::chrono::milliseconds(1));
      late_us.push_back(std::chrono::duration<double, std::micro>(clock::now() - due).count());
    }
  };
  const rates reached = together(req, req.n, 1, sleeper);
  plain = (plain + plain_rate(req.procs)) / 2;
  const std::string common = member("loops_percent", 100 * reached.loops / plain) + "," +
                             member("wakeups", static_cast<double>(late_us.size()));
  if (late_us.size() < kFewWakeUps) return common + "," + member("starves", 1);
  std::sort(late_us.begin(), late_us.end());
  const auto at = [&](double part) {
    return late_us[static_cast<std::size_t>(static_cast<double>(late_us.size() - 1) * part + 0.5)];
  };
  return common + "," + member("p50_us", at(0.5)) + "," + member("p99_us", at(0.99));
}

std::string naps(const request& req) {
  double plain = plain_rate(req.procs);
  const auto napper = [](const std::atomic<bool>& is_stopped, tally& mine) {
    const timespec length{0, kNapNs};
    while (!is_stopped.load(std::memory_order_relaxed)) {  // only a flag
      ::nanosleep(&length, nullptr);
      boost::this_fiber::yield();
      mine.n.fetch_add(1, std::memory_order_relaxed);  // only a count
    }
  };
  const rates reached = together(req, req.procs, req.n, napper);
  plain = (plain + plain_rate(req.procs)) / 2;
  const double ideal = static_cast<double>(req.n) * 1e9 / kNapNs;
  return member("calls_percent", 100 * reached.others / ideal) + "," +
         member("compute_percent", 100 * reached.loops / plain) + "," +
         member("calls_per_second", reached.others);
}

}  // namespace peer
