// http_client.cpp: asks for a page, several times over one connection: `http_client http://127.0.0.1:8080/index.html 3`. Prints status and body of
// each. With https:// the server must show who it is; `--ca ca.pem` says whom to believe, instead of those the system trusts.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <weft/beast.hpp>
#include <weft/net.hpp>
#include <weft/net/tls.hpp>
#include <weft/runtime.hpp>

namespace {

namespace http = boost::beast::http;
namespace tls = weft::net::tls;

struct question {
  bool is_secure = false;
  std::string host;  // with the port
  std::string path;
  std::string authorities;  // a file; "": the system's
  int times = 1;
};

// http[s]://host[:port][/path]
bool read_url(std::string_view url, question& q) {
  q.is_secure = url.starts_with("https://");
  if (!q.is_secure && !url.starts_with("http://")) return false;
  url.remove_prefix(q.is_secure ? 8 : 7);
  const std::size_t slash = url.find('/');
  q.host = url.substr(0, slash);
  q.path = slash == std::string_view::npos ? "/" : url.substr(slash);
  const bool has_port = q.host.rfind(':') != std::string::npos && !q.host.ends_with(']');
  if (!has_port) q.host += q.is_secure ? ":443" : ":80";
  return true;
}

// http_client [--ca <file>] <url> [times]
bool read_arguments(int argc, char** argv, question& q) {
  int at = 1;
  if (argc > 3 && std::string_view(argv[1]) == "--ca") {
    q.authorities = argv[2];
    at = 3;
  }
  if (argc > at + 1) q.times = std::atoi(argv[at + 1]);
  return argc > at && argc <= at + 2 && read_url(argv[at], q);
}

template <class Stream>
void ask(Stream& c, const question& q) {
  boost::beast::flat_buffer buffer;
  for (int i = 0; i < q.times; ++i) {
    http::request<http::empty_body> req{http::verb::get, q.path, 11};
    req.set(http::field::host, q.host);
    http::write(c, req);
    http::response<http::string_body> res;
    http::read(c, buffer, res);
    std::printf("%u\n%s", res.result_int(), res.body().c_str());
  }
}

void ask(const question& q) {
  const auto deadline = weft::clock::now() + std::chrono::seconds(10);
  if (!q.is_secure) {
    auto c = weft::net::dial("tcp", q.host);
    c.set_deadline(deadline);
    return ask(c, q);
  }
  tls::client_config config;
  if (!q.authorities.empty()) config.trust_file(q.authorities);
  auto c = tls::dial("tcp", q.host, config.protocols({"http/1.1"}));
  c.lower().set_deadline(deadline);
  ask(c, q);
}

}  // namespace

int main(int argc, char** argv) {
  question q;
  if (!read_arguments(argc, argv, q)) {
    std::fputs("usage: http_client [--ca <file>] http[s]://<host>[:port][/path] [times]\n", stderr);
    return 2;
  }
  return weft::run([&] {
    try {
      ask(q);
      return EXIT_SUCCESS;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "http_client: %s\n", e.what());
      return EXIT_FAILURE;
    }
  });
}
