// main.cpp: the weft contestant of `make bench`: picks a workload, runs it, prints one line of JSON.
// The command line is every contestant's: `<prog> <workload> <procs> <n> [seconds]`, or `<prog> serve_echo <procs> <port>`.
#include <algorithm>
#include <iterator>
#include <string_view>

#include <cstdio>
#include <cstdlib>

#include <weft/version.hpp>

#include "workload.hpp"

namespace {

struct entry {
  std::string_view name;
  std::string (*run)(const weft_bench::request&);
};

constexpr entry kWorkloads[] = {
    {"yield", weft_bench::yield},
    {"spawn_join", weft_bench::spawn_join},
    {"spawn_storm", weft_bench::spawn_storm},
    {"ping_pong", weft_bench::ping_pong},
    {"buffered_1x1", weft_bench::buffered_1x1},
    {"buffered_4x4", weft_bench::buffered_4x4},
    {"ring", weft_bench::ring},
    {"sieve", weft_bench::sieve},
    {"skynet", weft_bench::skynet},
    {"select_2", weft_bench::select_2},
    {"select_8", weft_bench::select_8},
    {"select_ready", weft_bench::select_ready},
    {"mutex", weft_bench::mutex},
    {"parked", weft_bench::parked},
    {"queued", weft_bench::queued},
    {"idle", weft_bench::idle},
    {"lateness", weft_bench::lateness},
    {"naps", weft_bench::naps},
    {"naps_blocking", weft_bench::naps_blocking},
    {"interrupted", weft_bench::interrupted},
    {"stop_world", weft_bench::stop_world},
    {"checkpoint", weft_bench::checkpoint},
    {"nap", weft_bench::nap},
    {"sleep", weft_bench::sleep},
    {"timers", weft_bench::timers},
};

weft_bench::request parse(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    weft_bench::fail("usage: <prog> <workload> <procs> <n> [seconds], or <prog> version");
  }
  const long procs = std::strtol(argv[2], nullptr, 10);
  const long long n = std::strtoll(argv[3], nullptr, 10);
  const double seconds = argc == 5 ? std::strtod(argv[4], nullptr) : 10;
  if (procs < 1 || n < 1 || !(seconds > 0)) {
    weft_bench::fail("procs, n and seconds must be positive numbers");
  }
  return {argv[1], static_cast<unsigned>(procs), static_cast<std::size_t>(n), seconds};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "version") {
    std::printf("{\"version\":\"%s\"}\n", WEFT_VERSION_STRING);
    return 0;
  }
  if (argc == 4 && std::string_view(argv[1]) == "serve_echo") {
    weft_bench::serve_echo(static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)), argv[3]);
    return 0;
  }
  const weft_bench::request req = parse(argc, argv);
  const auto found = std::find_if(std::begin(kWorkloads), std::end(kWorkloads),
                                  [&](const entry& e) { return e.name == req.workload; });
  if (found == std::end(kWorkloads)) weft_bench::fail("no such workload");
  const std::string figures = found->run(req);
  std::printf("{\"workload\":\"%s\",\"procs\":%u,\"n\":%zu,%s}\n", req.workload.c_str(), req.procs,
              req.n, figures.c_str());
}
