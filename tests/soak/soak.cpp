// soak.cpp: random programs (support/token_market.hpp) for minutes or hours, and does anything grow?
//
//   weft_soak [--seconds N] [--line-every N] [--seed N] [--leak]
//
// A line every few seconds: how many markets, operations and goroutines there were, what the process holds now (memory, descriptors,
// threads) and how each has changed since the first quarter, by the hour. Ends with code 1 when a token was lost, a wake-up was, or when
// memory, descriptors or threads grow steadily; 0 otherwise. --leak leaves descriptors open after each market: to see that it is seen.
//
// What grows steadily: whatever was held in the last third of the time is more than anything in the middle third, and by a margin that is no matter of
// chance. (What was freed is kept for a while, a pool fills up, a heap breathes.)
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

#include "support/platform.hpp"
#include "support/token_market.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

constexpr int kLeaked = 5;  // descriptors a market, with --leak

struct settings {
  int seconds = 60;
  int line_every = 5;
  std::uint64_t seed = std::random_device{}();
  bool leaks = false;
};

// What the process holds.
struct sample {
  double at_s = 0;
  long rss_kib = 0;
  long nfds = 0;
  long nthreads = 0;
};

struct quantity {
  const char* name;
  const char* unit;
  long sample::* value;
  long margin;  // less than this is chance
};
constexpr quantity kQuantities[] = {
    {"memory", "KiB", &sample::rss_kib, 16 << 10},
    {"descriptors", "", &sample::nfds, 8},
    {"threads", "", &sample::nthreads, 8},
};

long resident_kib() {
  long pages = 0;
  if (std::FILE* const statm = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(statm, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(statm);
  }
  return pages * ::sysconf(_SC_PAGESIZE) / 1024;
}

long count_descriptors() {
  long n = 0;
  DIR* const d = ::opendir("/proc/self/fd");
  if (d == nullptr) return 0;
  while (const dirent* const each = ::readdir(d)) n += each->d_name[0] != '.';
  ::closedir(d);
  return n - 1;  // the one that we read it with
}

class soak {
 public:
  explicit soak(const settings& set) : set_(set) {}

  int run() {
    std::printf("soak: %d s from seed %llu\n", set_.seconds,
                static_cast<unsigned long long>(set_.seed));
    for (std::uint64_t i = 0; elapsed_s() < set_.seconds; ++i) {
      if (!hold_market(set_.seed + i)) return 1;
      samples_.push_back(
          {elapsed_s(), resident_kib(), count_descriptors(), weft::test::count_tasks()});
      if (elapsed_s() - last_line_s_ >= set_.line_every) say_line();
    }
    say_line();
    return judge();
  }

 private:
  double elapsed_s() const {
    return std::chrono::duration<double>(clock_type::now() - begin_).count();
  }

  // On one processor, two or four by turns, each a runtime of its own.
  bool hold_market(std::uint64_t seed) {
    weft::test::market_result r;
    std::uint64_t nlost = 0;
    weft::run({.max_procs = 1u << (seed % 3)}, [&] {
      r = weft::test::run_market({.seed = seed, .nsteps = 60});
      nlost = weft::stats().unconserved;
    });
    for (int i = 0; i < kLeaked && set_.leaks; ++i) {
      if (::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) return false;
    }
    ++nmarkets_;
    nops_ += r.nchan_ops;
    nspawned_ += r.nspawned;
    if (!r.is_even)
      std::printf("soak: FAILED: market %llu: %s\n", static_cast<unsigned long long>(seed),
                  r.what.c_str());
    if (nlost != 0)
      std::printf("soak: FAILED: market %llu: %llu wake-ups were lost\n",
                  static_cast<unsigned long long>(seed), static_cast<unsigned long long>(nlost));
    return r.is_even && nlost == 0;
  }

  void say_line() {
    last_line_s_ = elapsed_s();
    if (samples_.empty()) return;
    const sample& now = samples_.back();
    const sample& then = samples_[samples_.size() / 4];
    const double hours = (now.at_s - then.at_s) / 3600;
    std::printf("soak: %4.0f s, %llu markets, %llu channel operations, %llu goroutines;", now.at_s,
                nmarkets_, nops_, nspawned_);
    for (const quantity& q : kQuantities) {
      const double slope =
          hours > 0 ? static_cast<double>(now.*q.value - then.*q.value) / hours : 0;
      std::printf(" %s %ld%s%s (%+.0f/h)", q.name, now.*q.value, *q.unit ? " " : "", q.unit, slope);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  struct range {
    long least, middle, most;
  };
  // Of the samples [from, to).
  range range_of(const quantity& q, std::size_t from, std::size_t to) const {
    std::vector<long> values;
    for (std::size_t i = from; i < to; ++i) values.push_back(samples_[i].*q.value);
    std::sort(values.begin(), values.end());
    return {values.front(), values[values.size() / 2], values.back()};
  }

  int judge() const {
    const std::size_t n = samples_.size();
    if (n < 9) {
      std::printf("soak: too short to see what grows: %zu markets\n", n);
      return 0;
    }
    int code = 0;
    for (const quantity& q : kQuantities) {
      const range then = range_of(q, n / 3, 2 * n / 3);
      const range now = range_of(q, 2 * n / 3, n);
      if (now.least <= then.most || now.middle < then.middle + q.margin) continue;
      std::printf("soak: FAILED: %s grow: %ld to %ld in the middle third, %ld to %ld in the last\n",
                  q.name, then.least, then.most, now.least, now.most);
      code = 1;
    }
    if (code == 0) std::printf("soak: ok\n");
    return code;
  }

  const settings set_;
  const clock_type::time_point begin_ = clock_type::now();
  std::vector<sample> samples_;
  double last_line_s_ = 0;
  unsigned long long nmarkets_ = 0;
  unsigned long long nops_ = 0;
  unsigned long long nspawned_ = 0;
};

[[noreturn]] void say_usage() {
  std::fprintf(stderr, "usage: weft_soak [--seconds N] [--line-every N] [--seed N] [--leak]\n");
  std::exit(2);
}

settings read_arguments(int argc, char** argv) {
  settings set;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--leak") {
      set.leaks = true;
      continue;
    }
    if (++i == argc) say_usage();
    const std::uint64_t value = std::strtoull(argv[i], nullptr, 10);
    if (name == "--seconds") {
      set.seconds = static_cast<int>(value);
    } else if (name == "--line-every") {
      set.line_every = static_cast<int>(value);
    } else if (name == "--seed") {
      set.seed = value;
    } else {
      say_usage();
    }
  }
  return set;
}

}  // namespace

int main(int argc, char** argv) { return soak(read_arguments(argc, argv)).run(); }
