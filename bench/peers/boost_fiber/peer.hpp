// peer.hpp: what the Boost.Fiber workloads share: the request, the clocks, the threads.
//
// Boost.Fiber has no scheduler of its own over several threads: a program gives every thread an
// algorithm and keeps the threads alive until the last fiber has ended. on_threads() does that in
// the way of the library's own examples: round_robin (the default) for one thread, work_stealing
// for several. Threads without work sleep: against threads that spin, and against shared_work, that
// was the quickest or as quick as the quickest in every workload.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace peer {

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

[[noreturn]] void fail(const char* what);

// Calls body(i) on the main fiber of each of `procs` threads, 0 <= i < procs, all of which run
// fibers until every body has returned.
void on_threads(unsigned procs, const std::function<void(unsigned)>& body);

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
std::string mutex(const request& req);
std::string parked(const request& req);
std::string queued(const request& req);
std::string idle(const request& req);
std::string lateness(const request& req);
std::string naps(const request& req);
std::string nap(const request& req);
std::string sleep(const request& req);
std::string timers(const request& req);

std::string ns_per_op(double seconds, std::size_t ops);
std::string bytes_per_item(std::int64_t bytes, std::size_t n);
std::string member(const char* name, double value);

}  // namespace peer
