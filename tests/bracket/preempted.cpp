// preempted.cpp: see preempted.hpp.
#include "bracket/preempted.hpp"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/weft.hpp>
#include "bracket/user_code.hpp"
#include "bracket/watch.hpp"

namespace weft::test::bracket {

namespace {

using namespace std::chrono_literals;

void compute() {
  for (int k = 0; k < 100'000; ++k) asm volatile("");
}

void allocate() {
  std::array<unsigned char*, 200> blocks{};
  for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] = new unsigned char[16 + 31 * k];
  for (unsigned char* each : blocks) delete[] each;
}

void throw_and_catch() {
  for (int k = 0; k < 20; ++k) {
    try {
      throw std::runtime_error(std::to_string(k) + " thrown where a signal may come at any time");
    } catch (const std::runtime_error&) {
    }
  }
}

constexpr std::array kHogs{&compute, &allocate, &use_libraries, &throw_and_catch, &compute};

// Goroutines that never call weft: more than there are Ps, and at least one of each kind.
class hogs {
 public:
  explicit hogs(unsigned nprocs) {
    watch_signal_handler = true;
    for (std::size_t i = 0; i < std::max<std::size_t>(nprocs + 2, kHogs.size()); ++i) {
      all_.go([this, work = kHogs[i % kHogs.size()]] {
        while (!stop_.load(std::memory_order_relaxed)) work();
      });
    }
  }
  ~hogs() {
    stop_ = true;
    all_.wait();
  }
  hogs(const hogs&) = delete;
  hogs& operator=(const hogs&) = delete;

 private:
  std::atomic<bool> stop_{false};
  weft::wait_group all_;
};

void nap_untold(int ms) {
  const timespec t{0, ms * 1'000'000L};
  ::nanosleep(&t, nullptr);
}

}  // namespace

std::string stopped_by_signal(unsigned nprocs) {
  weft::runtime_stats s;
  weft::run({.max_procs = nprocs}, [&] {
    const hogs busy(nprocs);
    until([] { weft::sleep_for(5ms); },
          [&] {
            s = weft::stats();
            return s.signals_sent >= 40 && s.preemptions >= 20 && nhandler_stops >= 20;
          });
  });
  if (nhandler_stops < 20)
    return "hardly anybody was stopped in the handler: was stop_here() renamed?";
  return unless(s.signals_sent >= 40 && s.preemptions >= 20, "hardly a signal was sent");
}

std::string borrowing(unsigned nprocs) {
  std::uint64_t nborrowed = 0;
  weft::run({.max_procs = nprocs}, [&] {
    const hogs busy(nprocs);
    std::atomic<bool> is_over{false};
    weft::wait_group sleepers;
    for (int i = 0; i < 6; ++i) {
      sleepers.go([&] {
        while (!is_over) {
          weft::sleep_for(1ms);
          use_libraries();
        }
      });
    }
    until([] { weft::sleep_for(2ms); }, [&] { return (nborrowed = weft::stats().borrows) >= 100; });
    is_over = true;
    sleepers.wait();
  });
  return unless(nborrowed >= 100, "hardly anybody borrowed a P");
}

// Fresh goroutines each round: one that was caught asleep leaves its P by itself later on.
std::string sleeping_untold(unsigned nprocs) {
  std::uint64_t ntaken = 0;
  weft::run({.max_procs = nprocs}, [&] {
    const hogs busy(nprocs);
    const auto one_round = [nprocs] {
      weft::wait_group nappers;
      for (unsigned i = 0; i < 2 * nprocs + 2; ++i) {
        nappers.go([i] {
          for (int k = 0; k < 6; ++k) {
            if (i % 2 == 0) {
              nap_untold(4);
            } else {
              ::poll(nullptr, 0, 4);
            }
            use_libraries();
            weft::yield();  // on credit, when it has been caught
            if (i % 3 == 0) weft::blocking([] { nap_untold(1); });
            weft::checkpoint();
          }
        });
      }
      nappers.wait();
    };
    until(one_round, [&] { return (ntaken = weft::stats().handoffs) >= 10; });
  });
  return unless(ntaken >= 10, "hardly a P was taken from a goroutine that slept");
}

std::string timers(unsigned nprocs) {
  constexpr int kSleepers = 500, kFuncs = 500, kTicks = 20;
  std::atomic<int> nwoken{0}, nfired{0};
  int nticks = 0, nstopped = 0, nafter = 0;
  watch_signal_handler = true;
  weft::run({.max_procs = nprocs}, [&] {
    weft::wait_group all;
    std::vector<weft::timer> later;
    for (int i = 0; i < kSleepers; ++i) {
      all.go([&, i] {
        weft::sleep_for(std::chrono::microseconds(i % 7 * 500));
        use_libraries();
        ++nwoken;
      });
      later.push_back(
          weft::after_func(std::chrono::microseconds(i % 5 * 700), [&, text = std::to_string(i)] {
            use_libraries();
            ++nfired;
          }));
    }
    std::vector<weft::timer> never;
    for (int i = 0; i < 100; ++i) never.push_back(weft::after_func(1h, [] {}));
    for (auto& t : never) nstopped += t.stop();
    for (int i = 0; i < 20; ++i) {
      weft::after(1ms).recv();
      use_libraries();
      ++nafter;
    }
    weft::ticker every(1ms);
    for (weft::time_point now : every.chan()) {
      static_cast<void>(now);
      use_libraries();
      if (++nticks == kTicks) break;
    }
    all.wait();
    until([] { weft::sleep_for(1ms); }, [&] { return nfired == kFuncs; });
  });
  return unless(nwoken == kSleepers && nfired == kFuncs && nstopped == 100 && nafter == 20 &&
                    nticks == kTicks,
                "not every timer did what it is for");
}

}  // namespace weft::test::bracket
