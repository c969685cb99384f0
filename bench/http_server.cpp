// http_server.cpp: the example's HTTP server, as a contestant: `bench_http_server <procs> <port>`, until it is killed.
#include "http_server.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <weft/runtime.hpp>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: bench_http_server <procs> <port>\n", stderr);
    return 2;
  }
  weft::options opts;
  opts.max_procs = static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10));
  return weft::run(opts, [&] {
    const auto l = weft::net::listen("tcp", std::string("127.0.0.1:") + argv[2]);
    std::printf("ready %u\n", static_cast<unsigned>(l.addr().port()));
    std::fflush(stdout);
    http_example::serve_all(l);
  });
}
