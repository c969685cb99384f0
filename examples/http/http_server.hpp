// http_server.hpp: an HTTP/1.1 server on Boost.Beast: a goroutine for each connection, which blocks as it pleases.
#pragma once

#include <chrono>
#include <ctime>
#include <string>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <weft/beast.hpp>
#include <weft/go.hpp>
#include <weft/net.hpp>

namespace http_example {

namespace http = boost::beast::http;

inline std::string date() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc)};
}

inline http::response<http::string_body> answer(const http::request<http::string_body>& req) {
  http::response<http::string_body> res{http::status::ok, req.version()};
  res.set(http::field::server, "weft");
  res.set(http::field::date, date());
  res.set(http::field::content_type, "text/plain");
  res.keep_alive(req.keep_alive());
  if (req.method() != http::verb::get && req.method() != http::verb::post) {
    res.result(http::status::method_not_allowed);
    res.body() = "only GET and POST\n";
  } else if (req.target() == "/") {
    res.body() = "Hello, World!\n";
  } else if (req.target() == "/echo") {
    res.body() = req.body();
  } else {
    res.result(http::status::not_found);
    res.body() = "there is no " + std::string(req.target()) + " here\n";
  }
  res.prepare_payload();
  return res;
}

// One request after the other, until either side has had enough.
template <class Stream>
void serve(Stream& c) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> req;
    boost::system::error_code ec;
    http::read(c, buffer, req, ec);
    if (ec) return;  // the end of the stream, or no HTTP
    const auto res = answer(req);
    http::write(c, res, ec);
    if (ec || !res.keep_alive()) return;
  }
}

// Until the listener is closed. dress(c): what is spoken on: the connection, or TLS on it.
template <class Dress>
void serve_all(const weft::net::listener& l, const Dress& dress) {
  std::error_code ec;
  while (auto c = l.accept(ec)) {
    weft::go([c, dress] {
      auto stream = dress(c);
      serve(stream);
    });
  }
}
inline void serve_all(const weft::net::listener& l) {
  serve_all(l, [](const weft::net::conn& c) { return c; });
}

}  // namespace http_example
