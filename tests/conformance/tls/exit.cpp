// exit.cpp: a process may exit in the midst of handshakes. OpenSSL would take itself down under their hands.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "conformance/tls/secured.hpp"

using namespace weft::test;
namespace net = weft::net;

namespace {

// weft::tls is the first to use OpenSSL, as in a program that does not use it itself; the certificates of these tests are made later.
[[noreturn]] void exit_in_the_midst() {
  const tls::client_config first;
  weft::run({.max_procs = 4}, [] {
    const auto l = net::listen("tcp", "127.0.0.1:0");
    const auto identity = being();
    weft::go([=] {
      for (;;)
        weft::go([c = tls::server(l.accept(), identity)] {
          std::error_code ec;
          c.handshake(ec);
        });
    });
    const auto config = trusting();
    const auto done = weft::make_chan<int>(20);
    for (int i = 0; i < 4; ++i)
      weft::go([done, l, config] {
        for (;;) {
          std::error_code ec;
          (void)tls::dial("tcp", l.addr().to_string(), config, ec);
          (void)done.try_send(1);
        }
      });
    for (int i = 0; i < 20; ++i) done.recv();
    std::exit(0);
  });
  std::abort();
}

TEST(tls_exit, in_the_midst_of_handshakes_is_clean) {
  GTEST_FLAG_SET(death_test_style,
                 "threadsafe");  // each in a process of its own, from its beginning
  // What goroutines hold at that moment is no leak.
  const char* const given = std::getenv("ASAN_OPTIONS");
  const std::string options = std::string(given != nullptr ? given : "") + ":detect_leaks=0";
  ::setenv("ASAN_OPTIONS", options.c_str(), 1);
  for (int i = 0; i < scaled(20); ++i)
    EXPECT_EXIT(exit_in_the_midst(), testing::ExitedWithCode(0), "");
}

}  // namespace
