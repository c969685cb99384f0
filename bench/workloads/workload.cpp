// workload.cpp: clocks, memory and JSON for weft's workloads (see workload.hpp).
#include "workload.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace weft_bench {

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
  std::fprintf(stderr, "weft workload: %s\n", what);
  std::_Exit(2);  // goroutines may be running; nothing here needs a destructor
}

std::string member(const char* name, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "\"%s\":%.9g", name, value);
  return text;
}

std::string ns_per_op(double seconds, std::size_t ops) {
  return member("ns_per_op", seconds * 1e9 / static_cast<double>(ops));
}

std::string bytes_per_item(std::int64_t bytes, std::size_t n) {
  return member("bytes_per_item", static_cast<double>(bytes) / static_cast<double>(n));
}

}  // namespace weft_bench
