// pressure.hpp: goroutines that keep every P wanted, so that slices end by force, Ps are borrowed and weft's signal flies.
//
//   {
//     const weft::test::pressure beside;   // more loops than Ps, and some that are woken every millisecond
//     ...                                  // the test
//   }                                      // they have ended
//
// Where a loop without a call cannot be stopped (support/preemptible.hpp) the loops call weft::checkpoint().
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/preemptible.hpp"

namespace weft::test {

class pressure {
 public:
  explicit pressure(unsigned nloops = weft::max_procs() + 2, unsigned nwoken = 2) {
    for (unsigned i = 0; i < nloops; ++i) {
      wg_.go([this] {
        while (!stop_.load(std::memory_order_relaxed)) {
          asm volatile("");
          if constexpr (!is_preemptible()) weft::checkpoint();
        }
      });
    }
    for (unsigned i = 0; i < nwoken; ++i) {
      wg_.go([this] {
        while (!stop_) weft::sleep_for(std::chrono::milliseconds(1));
      });
    }
  }
  ~pressure() {
    stop_ = true;
    wg_.wait();
  }
  pressure(const pressure&) = delete;
  pressure& operator=(const pressure&) = delete;

 private:
  std::atomic<bool> stop_{false};
  weft::wait_group wg_;
};

// So many goroutines that compute that every P has one and some wait. None makes a call into weft until it is told to end.
class hogs {
 public:
  explicit hogs(unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      wg_.go([this] {
        ++nrunning_;
        while (!stop_.load(std::memory_order_relaxed)) asm volatile("");
      });
  }
  ~hogs() {
    stop_ = true;
    wg_.wait();
  }
  unsigned running() const { return nrunning_; }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<unsigned> nrunning_{0};
  weft::wait_group wg_;
};

// Sleeps in the kernel and tells nobody.
inline void nap(std::chrono::microseconds time) {
  const timespec t{0, static_cast<long>(time.count()) * 1000};
  ::nanosleep(&t, nullptr);
}

// Computes for so long, without a call into weft and without a system call.
inline void spin_for(std::chrono::steady_clock::duration time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 100; ++i) asm volatile("");
  }
}

// As eventually(), for one who waits among loops: asleep it costs nobody anything, and a yield would take a slice each time.
template <class Condition>
[[nodiscard]] bool is_soon(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    weft::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A place where goroutines compute until they have been stopped there: nobody can tell of himself that he was.
//
//   for (unsigned i = 0; i < n; ++i) wg.go([&] { place.compute(); ... });
//   EXPECT_TRUE(place.release_after_stops_of(n));      // twice as many stops as goroutines
class stopping_place {
 public:
  void compute() const {
    while (!is_released_.load(std::memory_order_relaxed)) {
      asm volatile("");
      if constexpr (!is_preemptible()) weft::checkpoint();
    }
  }
  // From another goroutine, and while there are more of them than Ps.
  [[nodiscard]] bool release_after_stops_of(unsigned n) {
    const bool were_stopped =
        !is_preemptible() || is_soon([&] { return weft::stats().signals_sent >= before_ + 2 * n; });
    is_released_ = true;
    return were_stopped;
  }

 private:
  const std::uint64_t before_ = weft::stats().signals_sent;
  std::atomic<bool> is_released_{false};
};

// Adds to WEFT_DEBUG for the runtimes that begin in its scope.
class debug_setting {
 public:
  explicit debug_setting(const char* added) {
    const char* const old = std::getenv("WEFT_DEBUG");
    had_ = old != nullptr;
    if (had_) old_ = old;
    ::setenv("WEFT_DEBUG", (old_.empty() ? added : old_ + "," + added).c_str(), 1);
  }
  ~debug_setting() {
    if (had_) {
      ::setenv("WEFT_DEBUG", old_.c_str(), 1);
    } else {
      ::unsetenv("WEFT_DEBUG");
    }
  }
  debug_setting(const debug_setting&) = delete;
  debug_setting& operator=(const debug_setting&) = delete;

 private:
  std::string old_;
  bool had_ = false;
};

// A number from the environment, for those who want a test to run longer than the ordinary suite lets it.
inline double setting(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atof(text) : otherwise;
}

}  // namespace weft::test

// As TEST_FOR_PROCS, with WEFT_DEBUG=asyncpreemptoff=1.
#define TEST_WITHOUT_SIGNALS(suite, name)                                                  \
  static void weft_quiet_body_of_##suite##_##name();                                       \
  static void weft_quietly_##suite##_##name(unsigned nprocs) {                             \
    const weft::test::debug_setting off("asyncpreemptoff=1");                              \
    weft::test::run_on(nprocs, weft_quiet_body_of_##suite##_##name);                       \
  }                                                                                        \
  WEFT_CASES_FOR_PROCS(suite, name##_without_signals, weft_quietly_##suite##_##name, 1, 2) \
  static void weft_quiet_body_of_##suite##_##name()
