// timer_heap_bench.cpp: what a timer costs among n others, beside a std::priority_queue of the same pairs.
//
// The standard queue has no lock, no cancelling and no state in the node, so it is a floor and not a peer. Both begin with n entries at
// random times. `hold` is a server's life: the earliest fires, another is armed for later; `drain` arms n and takes them all.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "rt/timer_heap.hpp"

namespace {

using namespace weft;

constexpr std::uint32_t kSpan = 1u << 30;

void nothing(rt::timer*, void*, std::uint64_t) {}

// n timers in memory that is not in heap order, as it is in a program that has run for a while.
struct timers {
  explicit timers(std::size_t n) : nodes(n), order(n) {
    base::rng rng(7);
    for (std::size_t i = 0; i < n; ++i) {
      nodes[i].fire = &nothing;
      order[i] = &nodes[i];
      std::swap(order[i], order[rng.below(static_cast<std::uint32_t>(i + 1))]);
    }
  }
  ~timers() { heap.clear(); }

  std::vector<rt::timer> nodes;
  std::vector<rt::timer*> order;
  rt::timer_heap heap;
};

using pair = std::pair<std::int64_t, rt::timer*>;
using std_queue = std::priority_queue<pair, std::vector<pair>, std::greater<>>;

void hold(benchmark::State& state) {
  timers all(static_cast<std::size_t>(state.range(0)));
  base::rng rng(1);
  for (rt::timer* t : all.order) all.heap.arm(t, rng.below(kSpan));
  std::array<rt::timer_heap::due, 1> out{};
  for (auto _ : state) {
    const std::int64_t now = all.heap.next_when();
    all.heap.pop_due(now, out);
    all.heap.arm(out[0].node, now + rng.below(kSpan));
  }
}
BENCHMARK(hold)->Arg(100)->Arg(10'000)->Arg(1'000'000);

void hold_std(benchmark::State& state) {
  timers all(static_cast<std::size_t>(state.range(0)));
  base::rng rng(1);
  std_queue queue;
  for (rt::timer* t : all.order) queue.emplace(rng.below(kSpan), t);
  for (auto _ : state) {
    const pair top = queue.top();
    queue.pop();
    queue.emplace(top.first + rng.below(kSpan), top.second);
  }
}
BENCHMARK(hold_std)->Arg(100)->Arg(10'000)->Arg(1'000'000);

void drain(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  timers all(n);
  base::rng rng(1);
  std::array<rt::timer_heap::due, 64> out{};
  for (auto _ : state) {
    for (rt::timer* t : all.order) all.heap.arm(t, rng.below(kSpan));
    while (all.heap.pop_due(kSpan, out) != 0) benchmark::DoNotOptimize(out);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(drain)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void drain_std(benchmark::State& state) {
  timers all(static_cast<std::size_t>(state.range(0)));
  base::rng rng(1);
  for (auto _ : state) {
    std_queue queue;
    for (rt::timer* t : all.order) queue.emplace(rng.below(kSpan), t);
    for (; !queue.empty(); queue.pop()) benchmark::DoNotOptimize(queue.top());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(drain_std)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// Arming only, in any order of times.
void arm(benchmark::State& state) {
  timers all(static_cast<std::size_t>(state.range(0)));
  base::rng rng(1);
  for (auto _ : state) {
    for (rt::timer* t : all.order) all.heap.arm(t, rng.below(kSpan));
    state.PauseTiming();
    all.heap.clear();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(arm)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// A timeout that never comes: armed and cancelled, with its share of the sweeps, beside n that stay.
void arm_and_cancel(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  timers all(n + n / 2 + 256);
  base::rng rng(1);
  for (std::size_t i = 0; i < n; ++i) all.heap.arm(all.order[i], kSpan + rng.below(kSpan));
  std::vector<rt::timer*> spare(all.order.begin() + static_cast<std::ptrdiff_t>(n),
                                all.order.end());
  static std::vector<rt::timer*>* free_list;
  free_list = &spare;
  for (rt::timer* t : spare)
    t->release = [](rt::timer* back, rt::timer_state) { free_list->push_back(back); };
  for (auto _ : state) {
    rt::timer* const t = spare.back();
    spare.pop_back();
    rt::timer_heap::cancel(t, all.heap.arm(t, rng.below(kSpan)).seq);
  }
}
BENCHMARK(arm_and_cancel)->Arg(0)->Arg(10'000)->Arg(1'000'000);

// A million entries of which a quarter are zombies: all of them dropped, and the most that one who arms meanwhile has to do for it, of
// its own processor time: what another who arms may have to wait.
struct littered : timers {
  littered() : timers(1'000'000 + kLate) {}

  void litter(base::rng& rng) {
    heap.clear();
    for (std::size_t i = 0; i < seqs.size(); ++i)
      seqs[i] = heap.arm(order[i], rng.below(kSpan)).seq;
    for (std::size_t i = 0; i < seqs.size(); i += 4) rt::timer_heap::cancel(order[i], seqs[i]);
  }

  static constexpr std::size_t kLate = 4000;
  std::vector<std::uint64_t> seqs = std::vector<std::uint64_t>(1'000'000);
};

void sweep_a_million(benchmark::State& state) {
  littered all;
  base::rng rng(1);
  for (auto _ : state) {
    state.PauseTiming();
    all.litter(rng);
    state.ResumeTiming();
    all.heap.tidy();
  }
}
BENCHMARK(sweep_a_million)->Unit(benchmark::kMillisecond);

double thread_us() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

void arm_during_a_sweep(benchmark::State& state) {
  littered all;
  base::rng rng(1);
  double longest = 0;
  for (auto _ : state) {
    state.PauseTiming();
    all.litter(rng);
    rt::timer_heap::cancel(all.order[1], all.seqs[1]);  // more than a quarter
    state.ResumeTiming();
    for (std::size_t i = 0; i < littered::kLate; ++i) {
      const double before = thread_us();
      all.heap.arm(all.order[all.seqs.size() + i], kSpan);
      longest = std::max(longest, thread_us() - before);
    }
  }
  state.counters["longest_us"] = longest;
}
BENCHMARK(arm_during_a_sweep)->Unit(benchmark::kMillisecond);

}  // namespace
