// showcase.cpp: what weft does, shown and checked. `make demo` builds and runs it.
//
// Every section prints what happened and checks it; the exit code is 0 only if every check held.
// Figures are of this run, on this machine; for figures to compare with there is `make bench`.
#include "showcase.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

namespace {

using showcase::check, showcase::kIsInstrumented, showcase::line, showcase::memory_bytes,
    showcase::row, showcase::section, showcase::stopwatch;

constexpr int kMany = kIsInstrumented ? 2'000 : 100'000;
constexpr int kMillion = kIsInstrumented ? 10'000 : 1'000'000;

void many_goroutines() {
  section("Many goroutines: start them, collect what they return");
  const double before = memory_bytes();
  const stopwatch watch;
  std::vector<weft::join_handle<std::int64_t>> handles;
  handles.reserve(kMany);
  for (std::int64_t i = 0; i < kMany; ++i) {
    handles.push_back(weft::spawn([i] {
      weft::yield();
      return i;
    }));
  }
  std::int64_t sum = 0;
  for (auto& h : handles) sum += h.join();
  line("%d goroutines started, switched and joined in %.0f ms: %.2f us each", kMany, watch.ms(),
       1000 * watch.ms() / kMany);
  line("memory grew by %.1f MiB meanwhile; %zu stacks served them all",
       (memory_bytes() - before) / (1 << 20), weft::stats().stacks);
  check(sum == std::int64_t{kMany} * (kMany - 1) / 2, "each returned its own number");
}

bool is_prime(std::uint32_t n) {
  if (n < 4) return n >= 2;
  if (n % 2 == 0) return false;
  for (std::uint32_t d = 3; d * d <= n; d += 2) {
    if (n % d == 0) return false;
  }
  return true;
}

void every_processor() {
  section("Every processor: primes below 2,000,000, in 200 goroutines");
  constexpr std::uint32_t kLimit = 2'000'000, kPieces = 200, kPiece = kLimit / kPieces;
  std::mutex lock;  // held for a moment and never across a switch, so a plain one will do
  std::map<int, int> pieces_by_thread;
  std::atomic<int> nprimes{0};
  const std::uint64_t steals_before = weft::stats().steals;
  const stopwatch watch;
  weft::wait_group done;
  for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
    done.go([&, piece] {
      int found = 0;
      for (std::uint32_t n = piece * kPiece; n < (piece + 1) * kPiece; ++n) found += is_prime(n);
      nprimes += found;
      std::lock_guard hold(lock);
      ++pieces_by_thread[::gettid()];
    });
  }
  done.wait();
  line("%d primes in %.0f ms on %u processors, %llu steals", nprimes.load(), watch.ms(),
       weft::max_procs(), static_cast<unsigned long long>(weft::stats().steals - steals_before));
  for (const auto& [thread, n] : pieces_by_thread) {
    line("thread %-8d %3d pieces  %s", thread, n,
         std::string(static_cast<std::size_t>(n) / 4, '#').c_str());
  }
  check(nprimes == 148'933, "the count is right");
}

void blocking_calls() {
  section("Blocking calls do not stop the others, even on one processor");
  constexpr int kStuck = 20;
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return check(false, "a pipe");
  const unsigned before = weft::max_procs(1);
  const stopwatch watch;
  std::atomic<int> nquick{0}, nback{0};
  weft::wait_group stuck, quick;
  for (int i = 0; i < kStuck; ++i) {
    stuck.go([&] {
      char byte;
      const auto n = weft::blocking([&] { return ::read(pipe_ends[0], &byte, 1); });
      if (n == 0) ++nback;
    });
  }
  for (int i = 0; i < 1000; ++i) quick.go([&] { ++nquick; });
  quick.wait();
  line("%d goroutines sit in read(2) on an empty pipe, a thread each", kStuck);
  line("1,000 others, started after them, were done after %.1f ms", watch.ms());
  check(nquick == 1000 && nback == 0, "the others finished while all of those were stuck");
  ::close(pipe_ends[1]);  // end of file for all of them
  stuck.wait();
  ::close(pipe_ends[0]);
  check(nback == kStuck, "and they came back when the pipe was closed");
  weft::max_procs(before);
}

void no_hostages() {
  section("Nobody holds a processor hostage: loops and naps that call nothing of weft's");
  using namespace std::chrono_literals;
  constexpr int kRounds = 200;
  const unsigned before = weft::max_procs(2);
  std::atomic<bool> is_over{false};
  struct alignas(64) counter {  // a cache line each, or they would slow one another
    std::atomic<std::uint64_t> n{0};
  };
  std::array<counter, 4> turns{};
  weft::wait_group busy;
  for (auto& mine : turns) {
    busy.go([&] {
      while (!is_over) mine.n.fetch_add(1, std::memory_order_relaxed);  // a loop and nothing else
    });
  }
  busy.go([&] {
    while (!is_over) std::this_thread::sleep_for(1ms);  // the thread's own sleep, not weft's
  });
  std::vector<double> late_us;
  for (int i = 0; i < kRounds; ++i) {
    const auto due = weft::clock::now() + 1ms;
    weft::sleep_until(due);
    late_us.push_back(std::chrono::duration<double, std::micro>(weft::clock::now() - due).count());
  }
  is_over = true;
  busy.wait();
  std::sort(late_us.begin(), late_us.end());
  std::uint64_t most = 0;
  for (const auto& each : turns) most = std::max(most, each.n.load());
  line("four endless loops and a thread asleep, on two processors");
  for (const auto& each : turns) {
    line("loop  %9llu turns  %s", static_cast<unsigned long long>(each.n.load()),
         std::string(static_cast<std::size_t>(40 * each.n.load() / most), '#').c_str());
  }
  line("beside them one goroutine slept 1 ms, %d times: median %.0f us late", kRounds,
       late_us[kRounds / 2]);
  check(std::all_of(turns.begin(), turns.end(), [](const auto& each) { return each.n > 0; }),
        "every loop had its turn");
  weft::max_procs(before);
}

void locked_thread() {
  section("lock_os_thread: one goroutine, one thread, whatever the others do");
  bool stayed = true;
  auto locked = weft::spawn({.name = "gui"}, [&] {
    weft::lock_os_thread();
    const int thread = ::gettid();
    for (int i = 0; i < 1000; ++i) {
      weft::yield();
      stayed &= thread == ::gettid();
    }
    weft::unlock_os_thread();
    return weft::this_goroutine::name();
  });
  for (int i = 0; i < 1000; ++i) weft::spawn([] { weft::yield(); }).join();
  const std::string name = locked.join();
  line("goroutine \"%s\" yielded 1,000 times", name.c_str());
  check(stayed, "and was on its thread each time");
}

void live_max_procs() {
  section("max_procs: changed while goroutines run");
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> nturns{0};
  weft::wait_group busy;
  for (int i = 0; i < 8; ++i) {
    busy.go([&] {
      for (; !is_over; ++nturns) weft::yield();
    });
  }
  const unsigned before = weft::max_procs();
  bool is_right = true;
  for (const unsigned n : {1u, 4u, 2u, before}) {
    const stopwatch watch;
    weft::max_procs(n);
    line("now %u, after %.0f us", weft::max_procs(), 1000 * watch.ms());
    is_right &= weft::max_procs() == n;
    for (const std::uint64_t seen = nturns; nturns < seen + 1000;) weft::yield();
  }
  is_over = true;
  busy.wait();
  check(is_right, "each number held, and the goroutines went on");
}

void a_million_queued() {
  section("A million goroutines in the queue: no stack before the first step");
  const unsigned before_procs = weft::max_procs(1);
  weft::wait_group done;
  const double before = memory_bytes();
  const stopwatch watch;
  double each = 0;
  std::size_t nalive = 0;
  {
    const weft::no_preempt guard;  // on purpose: the only processor stays here, and nobody begins
    std::thread([&] {
      for (int i = 0; i < kMillion; ++i) done.go([] {});
    }).join();
    each = (memory_bytes() - before) / kMillion;
    nalive = weft::num_goroutines();
  }
  line("%d started by a plain thread in %.0f ms", kMillion, watch.ms());
  line("%zu alive, %.0f bytes each", nalive, each);
  weft::max_procs(before_procs);
  done.wait();
  line("all of them done after %.0f ms", watch.ms());
  check(nalive > static_cast<std::size_t>(kMillion), "all were there at once");
  if (!kIsInstrumented) check(each <= 256, "at most 256 bytes each");
}

void exceptions() {
  section("Exceptions: from one goroutine to another, and across a switch");
  auto failing = weft::spawn([]() -> int {
    try {
      throw std::out_of_range("no such page");
    } catch (const std::exception&) {
      weft::spawn([] { weft::yield(); }).join();  // others run while this exception is in flight
      throw;
    }
  });
  std::string message;
  try {
    failing.join();
  } catch (const std::out_of_range& e) {
    message = e.what();
  }
  line("join() rethrew std::out_of_range: %s", message.c_str());
  check(message == "no such page", "same type, same words");
}

// Each number passes through a chain of goroutines, one for every prime found so far. They end with the group.
int nth_prime(int n) {
  weft::group sieve;
  auto numbers = weft::make_chan<int>();
  sieve.go([first = numbers](const weft::context& ctx) {
    for (int i = 2; first.send(i, ctx); ++i) {
    }
  });
  int prime = 0;
  for (int i = 0; i < n; ++i) {
    prime = numbers.recv().value();
    const auto rest = weft::make_chan<int>();
    sieve.go([in = numbers, out = rest, prime](const weft::context& ctx) {
      while (const auto each = in.recv(ctx)) {
        if (*each % prime != 0 && !out.send(*each, ctx)) return;
      }
    });
    numbers = rest;
  }
  return prime;
}

void channels() {
  section(
      "Channels: a prime sieve, a goroutine for every prime; and a select that does not wait for "
      "ever");
  constexpr int kPrimes = kIsInstrumented ? 50 : 400;
  constexpr int kLast = kIsInstrumented ? 229 : 2741;
  const stopwatch watch;
  const int prime = nth_prime(kPrimes);
  line("prime number %d is %d, found in %.0f ms", kPrimes, prime, watch.ms());
  check(prime == kLast, "and it is the right one");
  std::size_t which = 0;
  weft::select(weft::on_recv(weft::make_chan<int>(), [&](std::optional<int>) { which = 1; }),
               weft::on_timeout(std::chrono::milliseconds(5), [&] { which = 2; }));
  check(which == 2, "nobody sent, and the select went on after 5 ms");
}

void groups() {
  section("Groups: one of a thousand fails, the others are told, and all have ended");
  std::atomic<int> ntold{0};
  std::string what;
  const stopwatch watch;
  {
    weft::group g;
    for (int i = 1; i < 1000; ++i) {
      g.go([&](const weft::context& ctx) {
        ctx.done().recv();
        ++ntold;
      });
    }
    g.go([] { throw std::runtime_error("number 1000 cannot go on"); });
    try {
      g.wait();
    } catch (const std::exception& e) {
      what = e.what();
    }
  }
  line("%d were told, all ended after %.1f ms: \"%s\"", ntold.load(), watch.ms(), what.c_str());
  check(ntold == 999 && what == "number 1000 cannot go on", "none was forgotten, and none is left");
}

void show_stats() {
  section("weft::stats()");
  const stopwatch watch;  // whoever was joined may still be on the way out
  while (weft::num_goroutines() > 1 && watch.ms() < 1000) weft::yield();
  const weft::runtime_stats s = weft::stats();
  row("processors", s.max_procs);
  row("threads created", s.threads_created);
  row("threads now", s.threads);
  row("goroutines started", s.started);
  row("goroutines alive", s.goroutines);
  row("switches", s.switches);
  row("  of these direct", s.direct_switches);
  row("steals", s.steals);
  row("wake-ups of threads", s.wakeups);
  row("processors handed off", s.handoffs);
  row("stops of the world", s.world_stops);
  row("stacks", s.stacks);
  line("%-28s %12s", "stack guards by", s.stack_guard);
  check(s.goroutines == 1, "nobody is left but the main goroutine");
}

}  // namespace

int main() {
  using showcase::paint;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // progress is seen in a pipe as well
  const stopwatch watch;
  const int code = weft::run([] {
    std::printf("%sweft %s%s on %u CPUs, %u processors\n", paint("\033[1m"), WEFT_VERSION_STRING,
                paint("\033[0m"), weft::num_cpu(), weft::max_procs());
    many_goroutines();
    every_processor();
    blocking_calls();
    locked_thread();
    live_max_procs();
    no_hostages();
    a_million_queued();
    exceptions();
    channels();
    groups();
    show_stats();
    return showcase::has_failed ? 1 : 0;
  });
  std::printf("\n%s%s in %.1f s%s\n", paint(code == 0 ? "\033[1;32m" : "\033[1;31m"),
              code == 0 ? "Everything held," : "Something did not hold,", watch.ms() / 1000,
              paint("\033[0m"));
  return code;
}
