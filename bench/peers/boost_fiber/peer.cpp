// peer.cpp: clocks, memory and threads for the Boost.Fiber workloads (see peer.hpp).
#include "peer.hpp"

#include <ctime>
#include <thread>
#include <vector>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include <boost/fiber/all.hpp>

namespace peer {

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

std::int64_t resident_bytes() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (!status) fail("cannot read /proc/self/status");
  char line[256];
  std::int64_t kib = 0;
  while (std::fgets(line, sizeof line, status)) {
    std::int64_t value = 0;
    if (std::sscanf(line, "VmRSS: %" SCNd64, &value) == 1) kib += value;
    if (std::sscanf(line, "VmPTE: %" SCNd64, &value) == 1) kib += value;
  }
  std::fclose(status);
  return kib * 1024;
}

double cpu_ms() {
  timespec ts{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
  return static_cast<double>(ts.tv_sec) * 1e3 + static_cast<double>(ts.tv_nsec) / 1e6;
}

void fail(const char* what) {
  std::fprintf(stderr, "boost_fiber peer: %s\n", what);
  std::exit(2);
}

void on_threads(unsigned procs, const std::function<void(unsigned)>& body) {
  if (procs == 1) return body(0);
  // Both ends are met by every thread with its main fiber, so a thread that waits at the end
  // still runs and steals fibers. Nobody may leave while another could steal from it.
  boost::fibers::barrier begin(procs);
  boost::fibers::barrier end(procs);
  const auto work = [&](unsigned index) {
    constexpr bool kSleepWhenIdle = true;
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(procs,
                                                                                kSleepWhenIdle);
    begin.wait();
    body(index);
    end.wait();
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < procs; ++i) threads.emplace_back(work, i);
  work(0);
  for (auto& thread : threads) thread.join();
}

std::string member(const char* name, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "\"%s\":%.9g", name, value);
  return text;
}

std::string bytes_per_item(std::int64_t bytes, std::size_t n) {
  return member("bytes_per_item", static_cast<double>(bytes) / static_cast<double>(n));
}

std::string ns_per_op(double seconds, std::size_t ops) {
  return member("ns_per_op", seconds * 1e9 / static_cast<double>(ops));
}

}  // namespace peer
