// http_server.cpp: an HTTP server to try out: `http_server 8080`, then `curl http://127.0.0.1:8080/`;
// or `http_server 8443 --tls chain.pem key.pem`, then `curl --cacert ca.pem https://localhost:8443/`.
//
// Without a port it listens on a free one, asks itself a few times over one connection, says what it heard, and ends.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/net/tls.hpp>
#include <weft/runtime.hpp>

#include "http_server.hpp"

namespace {

namespace http = http_example::http;

// One request on a connection that is kept.
http::response<http::string_body> ask(weft::net::conn& c, boost::beast::flat_buffer& buffer,
                                      http::verb how, const char* what, const char* body = "") {
  http::request<http::string_body> req{how, what, 11};
  req.set(http::field::host, "localhost");
  req.body() = body;
  req.prepare_payload();
  http::write(c, req);
  http::response<http::string_body> res;
  http::read(c, buffer, res);
  return res;
}

int try_out(const weft::net::listener& l) {
  weft::go([l] { http_example::serve_all(l); });
  auto c = weft::net::dial("tcp", l.addr().to_string());
  boost::beast::flat_buffer buffer;
  const auto hello = ask(c, buffer, http::verb::get, "/");
  const auto echo = ask(c, buffer, http::verb::post, "/echo", "across the loom");
  const auto missing = ask(c, buffer, http::verb::get, "/nothing");
  std::printf("GET /: %u %s", hello.result_int(), hello.body().c_str());
  std::printf("POST /echo: %u %s\n", echo.result_int(), echo.body().c_str());
  std::printf("GET /nothing: %u %s", missing.result_int(), missing.body().c_str());
  l.close();
  const bool is_right = hello.body() == "Hello, World!\n" && echo.body() == "across the loom" &&
                        missing.result() == http::status::not_found;
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int serve_https(const weft::net::listener& l, const char* chain, const char* key) {
  namespace tls = weft::net::tls;
  const tls::server_config identity(chain, key);
  std::printf("listening on https://%s/\n", l.addr().to_string().c_str());
  http_example::serve_all(l, [identity](weft::net::conn c) { return tls::server(c, identity); });
  return EXIT_SUCCESS;
}

int serve_http(const weft::net::listener& l) {
  std::printf("listening on http://%s/\n", l.addr().to_string().c_str());
  http_example::serve_all(l);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_secure = argc == 5 && std::string_view(argv[2]) == "--tls";
  if (argc > 2 && !is_secure) {
    std::fputs("usage: http_server [port [--tls <certificates> <key>]]\n", stderr);
    return 2;
  }
  return weft::run([&] {
    try {
      const std::string port = argc > 1 ? argv[1] : "0";
      const auto l = weft::net::listen("tcp", "127.0.0.1:" + port);
      if (argc < 2) return try_out(l);
      return is_secure ? serve_https(l, argv[3], argv[4]) : serve_http(l);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "http_server: %s\n", e.what());
      return EXIT_FAILURE;
    }
  });
}
