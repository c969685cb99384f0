// timers.cpp: the Boost.Fiber workloads about what sleeping costs.
//
// A fiber wakes on the thread it went to sleep on. So each thread starts its own part of them.
#include <algorithm>
#include <atomic>
#include <vector>

#include <boost/fiber/all.hpp>

#include "gate.hpp"
#include "peer.hpp"

namespace peer {

namespace {

std::size_t part_of(const request& req, unsigned index) {
  return req.n / req.procs + (index < req.n % req.procs ? 1 : 0);
}

std::chrono::nanoseconds nanoseconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

// A fiber sleeps 100 us in a loop: how late it wakes.
std::string nap(const request& req) {
  std::vector<double> late_us;
  on_threads(1, [&](unsigned) {
    boost::fibers::fiber([&] {
      const auto begin = clock::now();
      while (seconds_since(begin) < req.seconds) {
        const auto asleep = clock::now();
        boost::this_fiber::sleep_for(std::chrono::microseconds(100));
        late_us.push_back(seconds_since(asleep) * 1e6 - 100);
      }
    }).join();
  });
  std::sort(late_us.begin(), late_us.end());
  return member("p50_us", late_us.at(late_us.size() / 2)) + "," +
         member("p99_us", late_us.at(late_us.size() * 99 / 100));
}

// n fibers sleep 1 ms in a loop; processor time per sleep.
std::string sleep(const request& req) {
  std::atomic<std::size_t> slept{0};
  const auto begin = clock::now();
  const double before = cpu_ms();
  on_threads(req.procs, [&](unsigned index) {
    std::vector<boost::fibers::fiber> fibers;
    for (std::size_t i = 0; i < part_of(req, index); ++i) {
      fibers.emplace_back([&] {
        std::size_t mine = 0;
        for (; seconds_since(begin) < req.seconds; ++mine)
          boost::this_fiber::sleep_for(std::chrono::milliseconds(1));
        slept += mine;
      });
    }
    for (auto& fiber : fibers) fiber.join();
  });
  const double used = cpu_ms() - before;
  return member("ns_per_op", used * 1e6 / static_cast<double>(slept)) + "," +
         member("sleeps", static_cast<double>(slept));
}

// n fibers are parked; then all of them go to sleep, for `seconds` and up to a second more, evenly spread. Time and memory are looked at
// when all of them sleep, processor time when all have woken.
std::string timers(const request& req) {
  std::atomic<std::size_t> armed{0};
  gate begin;
  gate all_armed;
  clock::time_point released;
  double took = 0;
  double cpu_before = 0;
  std::int64_t with = 0;
  const std::int64_t before = resident_bytes();
  std::int64_t without = 0;
  boost::fibers::barrier made(req.procs);
  on_threads(req.procs, [&](unsigned index) {
    boost::fibers::protected_fixedsize_stack stacks;
    std::vector<boost::fibers::fiber> fibers;
    const std::size_t mine = part_of(req, index);
    for (std::size_t i = 0; i < mine; ++i) {
      const double wanted = req.seconds + static_cast<double>(i) / static_cast<double>(mine);
      fibers.emplace_back(boost::fibers::launch::dispatch, std::allocator_arg, stacks, [&, wanted] {
        begin.wait();
        if (++armed == req.n) {
          took = seconds_since(released);
          with = resident_bytes();
          all_armed.open();
        }
        boost::this_fiber::sleep_for(nanoseconds(wanted));
      });
    }
    made.wait();
    if (index == 0) {
      without = resident_bytes();
      cpu_before = cpu_ms();
      released = clock::now();
      begin.open();
      all_armed.wait();
      if (took > req.seconds) fail("timers: some woke before all slept; more seconds are needed");
    }
    for (auto& fiber : fibers) fiber.join();
  });
  const double cpu_us = (cpu_ms() - cpu_before) * 1e3;
  return bytes_per_item(with - before, req.n) + "," + member("seconds", took) + "," +
         member("cpu_us_each", cpu_us / static_cast<double>(req.n)) + "," +
         member("timer_bytes", static_cast<double>(with - without) / static_cast<double>(req.n));
}

}  // namespace peer
