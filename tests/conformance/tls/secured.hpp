// secured.hpp: two ends of a TLS connection for tests.
//
//   const auto [here, there] = weft::test::secured();                 // client and server, handshake done
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <system_error>

#include <weft/net/tls.hpp>
#include <weft/weft.hpp>

#include "conformance/tls/pki.hpp"
#include "support/sockets.hpp"

namespace weft::test {

namespace tls = net::tls;

inline constexpr std::array kBothVersions = {tls::version::tls_1_2, tls::version::tls_1_3};

inline tls::client_config trusting() {
  return tls::client_config().trust_file(pki::get().authority);
}
inline tls::server_config being(const identity_files& who = pki::get().server) {
  return tls::server_config(who.chain, who.key);
}

struct tls_pair {
  tls::conn here;   // the client
  tls::conn there;  // the server
};

inline tls_pair unagreed(const tls::client_config& c = trusting(),
                         const tls::server_config& s = being()) {
  const auto under = connected();
  return {tls::client(under.here, c, "localhost"), tls::server(under.there, s)};
}

struct verdicts {
  std::error_code client;
  std::error_code server;
};

// Both at once.
inline verdicts agree(const tls_pair& p) {
  verdicts v;
  weft::wait_group wg;
  wg.go([&] { p.there.handshake(v.server); });
  p.here.handshake(v.client);
  if (v.client) p.here.close();
  wg.wait();
  return v;
}

inline tls_pair secured(const tls::client_config& c = trusting(),
                        const tls::server_config& s = being()) {
  tls_pair p = unagreed(c, s);
  const verdicts v = agree(p);
  EXPECT_FALSE(v.client) << v.client.message();
  EXPECT_FALSE(v.server) << v.server.message();
  return p;
}

inline void expect_passes(const tls::conn& from, const tls::conn& to, const std::string& text) {
  std::string got(text.size(), '?');
  weft::wait_group wg;
  wg.go([&] {
    std::error_code ec;
    to.read_full(got, ec);
    EXPECT_FALSE(ec) << ec.message();
  });
  std::error_code ec;
  from.write_all(text, ec);
  EXPECT_FALSE(ec) << ec.message();
  wg.wait();
  EXPECT_EQ(got, text);
}

}  // namespace weft::test
