// main.cpp: the Boost.Fiber contestant of `make bench`: picks a workload, runs it, prints one line
// of JSON. The command line is every contestant's: `<prog> <workload> <procs> <n> [seconds]`.
#include <algorithm>
#include <string_view>

#include <cstdio>
#include <cstdlib>

#include <boost/version.hpp>

#include "peer.hpp"

namespace {

struct entry {
  std::string_view name;
  std::string (*run)(const peer::request&);
};

constexpr entry kWorkloads[] = {
    {"yield", peer::yield},
    {"spawn_join", peer::spawn_join},
    {"spawn_storm", peer::spawn_storm},
    {"ping_pong", peer::ping_pong},
    {"buffered_1x1", peer::buffered_1x1},
    {"buffered_4x4", peer::buffered_4x4},
    {"ring", peer::ring},
    {"sieve", peer::sieve},
    {"skynet", peer::skynet},
    {"mutex", peer::mutex},
    {"parked", peer::parked},
    {"queued", peer::queued},
    {"idle", peer::idle},
    {"lateness", peer::lateness},
    {"naps", peer::naps},
    {"naps_blocking", peer::naps},  // there is nothing to tell it
    {"nap", peer::nap},
    {"sleep", peer::sleep},
    {"timers", peer::timers},
};

peer::request parse(int argc, char** argv) {
  if (argc < 4 || argc > 5)
    peer::fail("usage: <prog> <workload> <procs> <n> [seconds], or version");
  const long procs = std::strtol(argv[2], nullptr, 10);
  const long long n = std::strtoll(argv[3], nullptr, 10);
  const double seconds = argc == 5 ? std::strtod(argv[4], nullptr) : 10;
  if (procs < 1 || n < 1 || !(seconds > 0)) peer::fail("procs, n and seconds must be positive");
  return {argv[1], static_cast<unsigned>(procs), static_cast<std::size_t>(n), seconds};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "version") {
    std::printf("{\"version\":\"%d.%d.%d\"}\n", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000,
                BOOST_VERSION % 100);
    return 0;
  }
  const peer::request req = parse(argc, argv);
  const auto found = std::find_if(std::begin(kWorkloads), std::end(kWorkloads),
                                  [&](const entry& e) { return e.name == req.workload; });
  if (found == std::end(kWorkloads)) peer::fail("no such workload");
  const std::string figures = found->run(req);
  std::printf("{\"workload\":\"%s\",\"procs\":%u,\"n\":%zu,%s}\n", req.workload.c_str(), req.procs,
              req.n, figures.c_str());
}
