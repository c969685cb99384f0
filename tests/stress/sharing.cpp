// sharing.cpp: goroutines that compute share the processors evenly, wherever they are when their time is up.
//
// WEFT_SHARE_SECONDS=60 runs each case so long and then wants every goroutine within 20 % of the mean. In the ordinary suite, where other
// tests run beside it and a case has half a second, it only wants everybody to get on and every result to be right. In both, those who
// have lost their P must not compute beside those who have one: the kernel would share evenly among them as well. CPU time shows that only
// where there are more CPUs than Ps, so it is also looked how many of them compute at once. At the end of the file the load runs with a
// signal that stops nobody, and with none: both must be seen.
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "os/thread_watch.hpp"
#include "support/checked_work.hpp"
#include "support/for_procs.hpp"
#include "support/preemptible.hpp"
#include "support/pressure.hpp"

using namespace std::chrono_literals;

namespace {

constexpr double kLong = 5;
double seconds_per_case() { return weft::test::setting("WEFT_SHARE_SECONDS", 0.5); }

// Of more Ps than CPUs some wait for a CPU at any time, and cannot be told from one that is being stopped.
bool can_tell_at_once() { return weft::max_procs() <= weft::num_cpu(); }

// So many goroutines that three want each of two Ps.
constexpr std::size_t kHogs = 6;

// What this process has used of the CPUs.
double cpu_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// What a load may cost beside what its processors compute.
struct limits {
  double cpu_time;           // times what the processors have
  std::size_t more_at_once;  // than there are processors; on average, as it were
};
// One is being stopped.
constexpr limits kUsual{1.3, 1};
// One that is in the C library is spared a few times: not all compute at once. On a machine with other loads, where each of those times is a
// wait for a CPU, that cannot be told.
constexpr limits kInLibraries{1.3, kHogs};
// Those who print sleep for the stream's lock in between, and whoever is woken there computes without a P until sysmon sees it: 1.6 times
// was seen. Without the signal it is 2.
constexpr limits kPrinting{1.8, kHogs};

struct hog {
  std::atomic<int> tid{0};  // it makes no call into weft, and so stays on its thread
  std::atomic<long> ndone{0};
};

// How often so many of the hogs were found computing, or waiting for a CPU, and not asleep in the kernel.
class at_once {
 public:
  void add(std::size_t nhogs) { ++ntimes_[nhogs]; }
  std::size_t median() const {
    const long all = std::accumulate(ntimes_.begin(), ntimes_.end(), 0L);
    long sum = 0;
    for (std::size_t n = 0; n < ntimes_.size(); ++n)
      if ((sum += ntimes_[n]) * 2 > all) return n;
    return 0;
  }

 private:
  std::array<long, kHogs + 1> ntimes_{};
};

struct findings {
  std::array<double, kHogs> shares{};  // of the mean
  int nwrong = 0;
  double seconds = 0;
  double cpu_seconds = 0;
  std::size_t most_at_once = 0;  // how many may compute at once
  std::size_t at_once = 0;       // the median
};

// A look at the hogs, once in a millisecond, from a plain thread: it needs no P, and has an end whatever becomes of the goroutines.
class onlooker {
 public:
  explicit onlooker(const std::array<hog, kHogs>& hogs) : hogs_(hogs) {}

  // On a machine with other loads a goroutine that is to be stopped waits for a CPU first, and counts as one that computes. So it is looked
  // for longer; whoever is never stopped computes then as well.
  std::size_t watch(double seconds, std::size_t most) {
    const double used_before = cpu_seconds();
    at_once all;
    const double enough = 0.8 * seconds * std::min(weft::max_procs(), weft::num_cpu());
    look(all, seconds);
    for (int i = 0; i < 100 && cpu_seconds() - used_before < enough; ++i) look(all, 0.2);
    std::size_t least = all.median();
    for (int i = 0; i < 20 && least > most && seconds < kLong && can_tell_at_once(); ++i) {
      at_once more;
      look(more, 0.2);
      least = std::min(least, more.median());
    }
    return least;
  }

 private:
  void look(at_once& into, double seconds) {
    using clock = std::chrono::steady_clock;
    const auto began = clock::now();
    auto next_word = began + 10s;
    const auto end =
        began + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
    for (auto now = began; now < end; now = clock::now()) {
      std::this_thread::sleep_for(1ms);
      std::size_t n = 0;
      for (std::size_t i = 0; i < kHogs; ++i) {
        eyes_[i].open(hogs_[i].tid);
        n += hogs_[i].tid != 0 && eyes_[i].look() == weft::os::thread_activity::running;
      }
      into.add(n);
      if (now < next_word) continue;
      std::printf("[  SHARE   ] %.0f s of %.0f\n",
                  std::chrono::duration<double>(now - began).count(), seconds);
      std::fflush(stdout);
      next_word += 10s;
    }
  }

  const std::array<hog, kHogs>& hogs_;
  std::array<weft::os::thread_watch, kHogs> eyes_;
};

struct nothing_else {};

// work(i): a piece of a tenth of a millisecond or so; false: a wrong result. A Beside lives in each goroutine.
template <class Beside = nothing_else, class Work>
findings put_under_load(Work work, const limits& allowed) {
  const double seconds = seconds_per_case();
  findings found;
  found.most_at_once = std::min(weft::max_procs() + allowed.more_at_once, kHogs - 1);
  std::atomic<bool> stop{false};
  std::atomic<int> nwrong{0};
  std::array<hog, kHogs> hogs;
  const double used_before = cpu_seconds();
  const auto began = std::chrono::steady_clock::now();
  // First: where nobody is stopped, the first hog may keep us from doing anything more.
  std::thread watching([&] {
    found.at_once = onlooker(hogs).watch(seconds, found.most_at_once);
    stop = true;
  });
  weft::wait_group wg;
  for (std::size_t i = 0; i < kHogs; ++i) {
    wg.go([&, i] {
      [[maybe_unused]] const Beside beside{};
      hogs[i].tid = weft::test::thread_id();
      while (!stop.load(std::memory_order_relaxed)) {
        if (!work(i)) ++nwrong;
        hogs[i].ndone.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  wg.wait();
  weft::blocking([&] { watching.join(); });
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  found.cpu_seconds = cpu_seconds() - used_before;
  found.nwrong = nwrong;
  double mean = 0;
  for (const auto& each : hogs) mean += static_cast<double>(each.ndone) / kHogs;
  for (std::size_t i = 0; i < kHogs; ++i)
    found.shares[i] = static_cast<double>(hogs[i].ndone) / mean;
  return found;
}

// What is not as it should be.
std::vector<std::string> faults_of(const findings& found, const limits& allowed) {
  std::vector<std::string> faults;
  if (found.nwrong != 0) faults.push_back(std::to_string(found.nwrong) + " wrong results");
  if (found.cpu_seconds > allowed.cpu_time * weft::max_procs() * found.seconds)
    faults.push_back("more CPU time was used than the processors have");
  const bool had_its_cpus = found.cpu_seconds > 0.7 * weft::max_procs() * found.seconds;
  if (can_tell_at_once() && (allowed.more_at_once == 1 || had_its_cpus) &&
      found.at_once > found.most_at_once)
    faults.push_back(std::to_string(found.at_once) + " compute at once");
  const double least = seconds_per_case() >= kLong ? 0.8 : 0.05;
  const double most = seconds_per_case() >= kLong ? 1.2 : kHogs;
  for (const double each : found.shares) {
    if (each < least || each > most)
      faults.push_back("one had " + std::to_string(each) + " of the mean");
  }
  return faults;
}

template <class Work>
void share(Work work, const limits& allowed = kUsual) {
  const findings found = put_under_load(work, allowed);
  for (const std::string& fault : faults_of(found, allowed)) ADD_FAILURE() << fault;
  const weft::runtime_stats s = weft::stats();
  std::printf("[  SHARE   ]");
  for (const double each : found.shares) std::printf(" %.2f", each);
  std::printf("  at once %zu CPUs %.2f preemptions %llu signals %llu threads %u\n", found.at_once,
              found.cpu_seconds / found.seconds, static_cast<unsigned long long>(s.preemptions),
              static_cast<unsigned long long>(s.signals_sent), s.threads);
}

bool computes(std::size_t) {
  for (int k = 0; k < 100'000; ++k) asm volatile("");
  return true;
}

[[gnu::noinline]] unsigned leaf(unsigned x) { return x * 1664525u + 1013904223u; }

TEST_FOR_PROCS(sharing, a_loop_without_a_call) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  share(computes);
}

TEST_FOR_PROCS(sharing, a_leaf_without_a_frame) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  unsigned expected = 1;
  for (int k = 0; k < 50'000; ++k) expected = leaf(expected);
  share([expected](std::size_t) {
    unsigned x = 1;
    for (int k = 0; k < 50'000; ++k) x = leaf(x);
    return x == expected;
  });
}

TEST_FOR_PROCS(sharing, malloc_and_free) { share(weft::test::allocates, kInLibraries); }

TEST_FOR_PROCS(sharing, a_map_of_strings) {
  share(
      [](std::size_t) {
        std::map<std::string, std::string> words;
        for (int k = 0; k < 100; ++k)
          words["a key that does not fit inline " + std::to_string(k)] = std::to_string(k);
        return words.size() == 100 && words["a key that does not fit inline 57"] == "57";
      },
      kInLibraries);
}

TEST_FOR_PROCS(sharing, exceptions) { share(weft::test::throws, kInLibraries); }

TEST_FOR_PROCS(sharing, printf) {
  std::FILE* const nowhere = std::fopen("/dev/null", "w");
  ASSERT_NE(nowhere, nullptr);
  share(
      [nowhere](std::size_t) {
        for (int k = 0; k < 200; ++k)
          if (std::fprintf(nowhere, "%d %s %f\n", k, "text", k * 0.5) <= 0) return false;
        return true;
      },
      kPrinting);
  std::fclose(nowhere);
}

#if defined(__x86_64__)
TEST_FOR_PROCS(sharing, vector_code) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this CPU has no AVX2";
  share([](std::size_t i) { return weft::test::vectors(static_cast<unsigned>(i)); });
}

TEST_FOR_PROCS(sharing, avx512_code) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this CPU has no AVX-512";
  share([](std::size_t i) { return weft::test::wide_vectors(static_cast<unsigned>(i)); });
}
#endif

// --- and the checks would see it ---

class deaf_to_signals {
 public:
  deaf_to_signals() { change(SIG_BLOCK); }
  ~deaf_to_signals() { change(SIG_UNBLOCK); }
  deaf_to_signals(const deaf_to_signals&) = delete;
  deaf_to_signals& operator=(const deaf_to_signals&) = delete;

 private:
  static void change(int how) {
    sigset_t those;
    sigemptyset(&those);
    sigaddset(&those, SIGURG);
    ::pthread_sigmask(how, &those, nullptr);
  }
};

// The signal stops nobody. Where there are as many CPUs as Ps, the kernel shares them just as evenly.
TEST(sharing_checks, see_a_signal_that_stops_nobody) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  for (const unsigned nprocs : {1u, 2u}) {
    weft::test::run_on(nprocs, [] {
      if (!can_tell_at_once()) return;
      const findings found = put_under_load<deaf_to_signals>(computes, kUsual);
      EXPECT_GT(found.at_once, found.most_at_once);
      EXPECT_FALSE(faults_of(found, kUsual).empty());
    });
  }
}

// Goroutines are only asked.
TEST(sharing_checks, see_that_nobody_is_stopped) {
  WEFT_SKIP_UNLESS_PREEMPTIBLE();
  const weft::test::debug_setting off("asyncpreemptoff=1");
  for (const unsigned nprocs : {1u, 2u}) {
    weft::test::run_on(
        nprocs, [] { EXPECT_FALSE(faults_of(put_under_load(computes, kUsual), kUsual).empty()); });
  }
}

}  // namespace
