// resp_server.cpp: a small key-value store that speaks Redis' protocol: `resp_server 6379`, then `redis-cli` or `redis-benchmark -t set,get`.
//
// What is read and answered stands in resp.hpp. One goroutine per connection; the store is a map under a mutex. A connection's answers are collected while further requests are at hand
// (pipelining), and written together. Without a port it asks itself a few things, and ends.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <weft/weft.hpp>

#include "resp.hpp"

namespace {

void serve(const weft::net::conn& c, resp::store& all) {
  resp::input in(c);
  std::string out;
  std::error_code ec;
  while (const auto words = resp::read_request(in)) {
    all.answer(*words, out);
    if (!in.is_used_up()) continue;
    c.write_all(out, ec);
    if (ec) return;
    out.clear();
  }
}

// Until the listener is closed, and all connections have ended.
void serve_all(const weft::net::listener& l, resp::store& all) {
  weft::wait_group open;
  std::error_code ec;
  while (auto c = l.accept(ec)) open.go([c, &all] { serve(c, all); });
  open.wait();
}

int try_out(const weft::net::listener& l) {
  const auto c = weft::net::dial("tcp", l.addr().to_string());
  const std::string ask =
      "*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nset\r\n$5\r\ncount\r\n$2\r\n41\r\n"
      "*2\r\n$4\r\nINCR\r\n$5\r\ncount\r\n*2\r\n$3\r\nGET\r\n$5\r\ncount\r\n*2\r\n$3\r\nGET\r\n$"
      "4\r\nnone\r\n";
  const std::string expected = "+PONG\r\n+OK\r\n:42\r\n$2\r\n42\r\n$-1\r\n";
  c.write_all(ask);
  std::string got(expected.size(), ' ');
  c.read_full(got);
  std::fputs(got.c_str(), stdout);
  l.close();
  return got == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  return weft::run([&] {
    static resp::store all;
    const auto l = weft::net::listen("tcp", std::string("127.0.0.1:") + (argc > 1 ? argv[1] : "0"));
    if (argc > 1) {
      std::printf("listening on %s\n", l.addr().to_string().c_str());
      serve_all(l, all);
      return EXIT_SUCCESS;
    }
    weft::wait_group server;
    server.go([l] { serve_all(l, all); });
    const int result = try_out(l);
    server.wait();
    return result;
  });
}
