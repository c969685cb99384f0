// workload.hpp: what weft's workloads share: the request, the clocks, the list of workloads.
//
// Each workload does in weft what bench/peers/* do in the other systems, operation for operation;
// bench/README.md says what is measured. A workload runs in a process of its own, so memory and
// processor time are those of the workload alone, and starts its own runtime with req.procs Ps.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft_bench {

struct request {
  std::string workload;
  unsigned procs;
  std::size_t n;
  double seconds;  // for workloads that last a given time
};

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start);

// VmRSS + VmPTE of this process: what the kernel has given, page tables included.
std::int64_t resident_bytes();

// Processor time of the whole process, in milliseconds.
double cpu_ms();

// Ends the process: a workload that lost work has no figures.
[[noreturn]] void fail(const char* what);

// Members of the JSON line.
std::string member(const char* name, double value);
std::string ns_per_op(double seconds, std::size_t ops);
std::string bytes_per_item(std::int64_t bytes, std::size_t n);

// Each returns the members of its JSON line that follow workload, procs and n.
std::string yield(const request& req);
std::string spawn_join(const request& req);
std::string spawn_storm(const request& req);
std::string ping_pong(const request& req);
std::string buffered_1x1(const request& req);
std::string buffered_4x4(const request& req);
std::string ring(const request& req);
std::string sieve(const request& req);
std::string skynet(const request& req);
std::string select_2(const request& req);
std::string select_8(const request& req);
std::string select_ready(const request& req);
std::string mutex(const request& req);
std::string parked(const request& req);
std::string queued(const request& req);
std::string idle(const request& req);
std::string lateness(const request& req);
std::string naps(const request& req);
std::string naps_blocking(const request& req);
std::string interrupted(const request& req);
std::string stop_world(const request& req);
std::string checkpoint(const request& req);
std::string nap(const request& req);
std::string sleep(const request& req);
std::string timers(const request& req);

// Serves until the process is killed.
void serve_echo(unsigned procs, const char* port);

}  // namespace weft_bench
