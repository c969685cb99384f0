// sharing.cpp: goroutines that compute share the processors evenly, wherever they are when their time is up.
//
// WEFT_SHARE_SECONDS=60 runs each case so long and then wants every goroutine within 20 % of the mean. In the ordinary suite, where other
// tests run beside it and a case has half a second, it only wants everybody to get on and every result to be right. In both, those who
// have lost their P must not compute beside those who have one: the kernel would share evenly among them as well.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/preemptible.hpp"

namespace {

double seconds_per_case() {
  const char* const text = std::getenv("WEFT_SHARE_SECONDS");
  return text != nullptr ? std::atof(text) : 0.5;
}

// So many goroutines that three want each of two Ps.
constexpr std::size_t kHogs = 6;

// What this process has used of the CPUs.
double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// How many times the processors may compute. One that is in the C library is spared a few times. Those who print sleep for the
// stream's lock in between, and whoever is woken there computes without a P until sysmon sees it: 1.6 was seen. Without the signal it is 2.
constexpr double kUsualLimit = 1.3;
constexpr double kLimitOfPrinting = 1.8;

// work(i): a piece of a tenth of a millisecond or so; false: a wrong result.
template <class Work>
void share(Work work, double limit = kUsualLimit) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const double seconds = seconds_per_case();
  std::atomic<bool> stop{false};
  std::atomic<int> nwrong{0};
  std::array<std::atomic<long>, kHogs> done{};
  const double used_before = cpu_seconds();
  const auto began = std::chrono::steady_clock::now();
  weft::wait_group wg;
  for (std::size_t i = 0; i < kHogs; ++i) {
    wg.go([&, i] {
      while (!stop.load(std::memory_order_relaxed)) {
        if (!work(i)) ++nwrong;
        done[i].fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  weft::sleep_for(std::chrono::duration<double>(seconds));
  // Beside another load the time on the clock says little: until they have had most of what they would have had alone.
  const double enough = 0.8 * seconds * std::min(weft::max_procs(), weft::num_cpu());
  for (int i = 0; i < 2000 && cpu_seconds() - used_before < enough; ++i)
    weft::sleep_for(std::chrono::milliseconds(10));
  stop = true;
  wg.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(nwrong.load(), 0);
  EXPECT_LT(cpu_seconds() - used_before, limit * weft::max_procs() * took.count())
      << "more compute than have a processor";
  double mean = 0;
  for (const auto& each : done) mean += static_cast<double>(each.load()) / kHogs;
  const double least = seconds >= 5 ? 0.8 : 0.05;
  const double most = seconds >= 5 ? 1.2 : kHogs;
  for (const auto& each : done) {
    EXPECT_GE(static_cast<double>(each.load()), least * mean);
    EXPECT_LE(static_cast<double>(each.load()), most * mean);
  }
  const weft::runtime_stats s = weft::stats();
  std::printf("[  SHARE   ]");
  for (const auto& each : done) std::printf(" %.2f", static_cast<double>(each.load()) / mean);
  std::printf("  preemptions %llu signals %llu threads %u\n",
              static_cast<unsigned long long>(s.preemptions),
              static_cast<unsigned long long>(s.signals_sent), s.threads);
}

[[gnu::noinline]] unsigned leaf(unsigned x) { return x * 1664525u + 1013904223u; }

TEST_FOR_PROCS(sharing, a_loop_without_a_call) {
  share([](std::size_t) {
    for (int k = 0; k < 100'000; ++k) asm volatile("");
    return true;
  });
}

TEST_FOR_PROCS(sharing, a_leaf_without_a_frame) {
  unsigned expected = 1;
  for (int k = 0; k < 50'000; ++k) expected = leaf(expected);
  share([expected](std::size_t) {
    unsigned x = 1;
    for (int k = 0; k < 50'000; ++k) x = leaf(x);
    return x == expected;
  });
}

TEST_FOR_PROCS(sharing, malloc_and_free) {
  share([](std::size_t i) {
    std::array<unsigned char*, 200> blocks{};
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      blocks[k] = new unsigned char[16 + 31 * k];
      blocks[k][0] = static_cast<unsigned char>(i);
      blocks[k][15 + 31 * k] = static_cast<unsigned char>(k);
    }
    bool ok = true;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      ok &= blocks[k][0] == static_cast<unsigned char>(i) &&
            blocks[k][15 + 31 * k] == static_cast<unsigned char>(k);
      delete[] blocks[k];
    }
    return ok;
  });
}

TEST_FOR_PROCS(sharing, a_map_of_strings) {
  share([](std::size_t) {
    std::map<std::string, std::string> words;
    for (int k = 0; k < 100; ++k)
      words["a key that does not fit inline " + std::to_string(k)] = std::to_string(k);
    return words.size() == 100 && words["a key that does not fit inline 57"] == "57";
  });
}

TEST_FOR_PROCS(sharing, exceptions) {
  share([](std::size_t i) {
    bool ok = true;
    for (std::size_t k = 0; k < 40; ++k) {
      try {
        throw std::runtime_error(std::to_string(i * 1000 + k));
      } catch (const std::runtime_error& e) {
        ok &= e.what() == std::to_string(i * 1000 + k);
      }
    }
    return ok && std::uncaught_exceptions() == 0;
  });
}

TEST_FOR_PROCS(sharing, printf) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  ASSERT_NE(nowhere, nullptr);
  share(
      [nowhere](std::size_t) {
        for (int k = 0; k < 200; ++k)
          if (std::fprintf(nowhere, "%d %s %f\n", k, "text", k * 0.5) <= 0) return false;
        return true;
      },
      kLimitOfPrinting);
  std::fclose(nowhere);
}

#if defined(__x86_64__)
// Vector registers and flags hold the only copy of the state for long stretches.
[[gnu::target("avx2"), gnu::noinline]] bool vectors(unsigned seed) {
  using v8 = unsigned __attribute__((vector_size(32)));
  const v8 step = {1, 2, 3, 4, 5, 6, 7, 8};
  v8 sum = {seed, seed, seed, seed, seed, seed, seed, seed};
  constexpr unsigned kRounds = 100'000;
  for (unsigned k = 0; k < kRounds; ++k) {
    sum += step;
    asm volatile("" : "+x"(sum));
  }
  for (unsigned k = 0; k < 8; ++k)
    if (sum[k] != seed + kRounds * (k + 1)) return false;
  return true;
}

TEST_FOR_PROCS(sharing, vector_code) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  share([](std::size_t i) { return vectors(static_cast<unsigned>(i)); });
}

[[gnu::target("avx512f"), gnu::noinline]] bool wide_vectors(unsigned seed) {
  using v16 = unsigned __attribute__((vector_size(64)));
  v16 step{};
  v16 sum{};
  for (unsigned k = 0; k < 16; ++k) {
    step[k] = k + 1;
    sum[k] = seed;
  }
  constexpr unsigned kRounds = 100'000;
  for (unsigned k = 0; k < kRounds; ++k) {
    sum += step;
    asm volatile("" : "+v"(sum));
  }
  for (unsigned k = 0; k < 16; ++k)
    if (sum[k] != seed + kRounds * (k + 1)) return false;
  return true;
}

TEST_FOR_PROCS(sharing, avx512_code) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this CPU has no AVX-512";
  share([](std::size_t i) { return wide_vectors(static_cast<unsigned>(i)); });
}
#endif

}  // namespace
