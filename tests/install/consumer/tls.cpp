// tls.cpp: the smallest program that needs weft::tls: it dials a server that does not speak TLS, and is told so.
#include <iostream>
#include <weft/net.hpp>
#include <weft/net/tls.hpp>
#include <weft/weft.hpp>

int main() {
  return weft::run([] {
    const auto l = weft::net::listen("tcp", "127.0.0.1:0");
    weft::go([l] { l.accept().write_all("220 ready when you are\r\n"); });
    std::error_code ec;
    (void)weft::net::tls::dial("tcp", l.addr().to_string(), {}, ec);
    std::cout << "weft::tls works: " << (ec == weft::net::tls::errc::protocol ? 42 : 0) << '\n';
  });
}
