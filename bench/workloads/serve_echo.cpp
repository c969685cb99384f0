// serve_echo.cpp: not a workload but a server: sends back what it reads, a goroutine for each connection, until it is killed.
//
// `<prog> serve_echo <procs> <port>`; it prints `ready <port>` once it listens. bench/peers/load puts the load on it.
#include <array>
#include <cstdio>
#include <string>

#include <weft/go.hpp>
#include <weft/net.hpp>
#include <weft/runtime.hpp>

#include "workload.hpp"

namespace weft_bench {

void serve_echo(unsigned procs, const char* port) {
  weft::options opts;
  opts.max_procs = procs;
  weft::run(opts, [port] {
    const auto listener = weft::net::listen("tcp", std::string("127.0.0.1:") + port);
    std::printf("ready %u\n", static_cast<unsigned>(listener.addr().port()));
    std::fflush(stdout);
    for (;;) {
      weft::go([c = listener.accept()] {
        std::array<char, 16384> room;
        std::error_code ec;
        while (const std::size_t n = c.read_some(room, ec)) c.write_all({room.data(), n}, ec);
      });
    }
  });
}

}  // namespace weft_bench
