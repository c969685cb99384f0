// certificates.cpp: who is talked to, and who is refused and why; what both agree on.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <system_error>
#include <vector>

#include "conformance/tls/secured.hpp"

using namespace weft::test;
namespace net = weft::net;

namespace {

// What the client says of a server that shows this, dialled by that name.
std::error_code verdict_on(const identity_files& shown, const std::string& name,
                           const tls::client_config& config = trusting()) {
  const auto under = connected();
  const auto here = tls::client(under.here, config, name);
  const auto there = tls::server(under.there, being(shown));
  const verdicts v = agree({here, there});
  EXPECT_EQ(static_cast<bool>(v.client),
            static_cast<bool>(v.server) && v.server == tls::errc::refused)
      << "the server is told: " << v.server.message();
  return v.client;
}

TEST_FOR_PROCS(tls_certificate, that_is_right_is_taken) {
  const auto& files = pki::get();
  for (const char* name :
       {"localhost", "LOCALHOST", "localhost.", "any.weft.test", "127.0.0.1", "::1"})
    EXPECT_FALSE(verdict_on(files.server, name)) << name;
  EXPECT_FALSE(verdict_on(files.by_itself, "localhost",
                          tls::client_config().trust_file(files.by_itself.chain)))
      << "whoever is named in the file is trusted";
}

TEST_FOR_PROCS(tls_certificate, of_somebody_else_is_refused) {
  const auto& files = pki::get();
  const std::vector<std::pair<const identity_files*, const char*>> cases{
      {&files.elsewhere, "localhost"},    {&files.elsewhere, "127.0.0.1"},
      {&files.server, "127.0.0.2"},       {&files.server, "weft.test"},
      {&files.server, "a.b.weft.test"},   {&files.server, "localhost.evil.test"},
      {&files.by_name_only, "localhost"},
  };
  for (const auto& [shown, name] : cases) {
    const std::error_code why = verdict_on(*shown, name);
    EXPECT_EQ(why, tls::errc::wrong_name) << name << ": " << why.message();
    EXPECT_EQ(why, tls::errc::bad_certificate);
    EXPECT_NE(why, tls::errc::not_trusted);
  }
}

TEST_FOR_PROCS(tls_certificate, out_of_its_time_is_refused) {
  const auto& files = pki::get();
  EXPECT_EQ(verdict_on(files.expired, "localhost"), tls::errc::expired);
  EXPECT_EQ(verdict_on(files.unborn, "localhost"), tls::errc::expired);
  EXPECT_EQ(verdict_on(files.expired, "localhost").message(),
            "certificate has expired (certificate verify failed)");
}

TEST_FOR_PROCS(tls_certificate, that_nobody_trusted_vouches_for_is_refused) {
  const auto& files = pki::get();
  EXPECT_EQ(verdict_on(files.stranger, "localhost"), tls::errc::not_trusted);
  EXPECT_EQ(verdict_on(files.by_itself, "localhost"), tls::errc::not_trusted);
  EXPECT_EQ(verdict_on(files.server, "localhost", {}), tls::errc::not_trusted)
      << "the system does not trust the tests' authority";
}

TEST_FOR_PROCS(tls_certificate, is_not_looked_at_if_anybody_is_trusted) {
  const auto& files = pki::get();
  for (const identity_files* each : {&files.expired, &files.stranger, &files.elsewhere})
    EXPECT_FALSE(verdict_on(*each, "localhost", tls::client_config().trust_anybody()));
  EXPECT_FALSE(verdict_on(files.server, "", tls::client_config().trust_anybody()));
}

TEST_FOR_PROCS(tls_certificate, that_is_refused_is_named_with_the_address_and_the_cause) {
  const auto l = net::listen("tcp", "127.0.0.1:0");
  weft::wait_group wg;
  wg.go([&] {
    std::error_code ec;
    for (int i = 0; i < 2; ++i) tls::server(l.accept(), being(pki::get().expired)).handshake(ec);
  });
  const std::string where = l.addr().to_string();
  try {
    (void)tls::dial("tcp", where, trusting());
    ADD_FAILURE() << "an expired certificate was taken";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), tls::errc::expired);
    EXPECT_EQ(e.what(), "tls " + where + ": certificate has expired (certificate verify failed)");
  }
  const auto c = tls::client(net::dial("tcp", where), trusting(), "localhost");
  try {
    c.write_all("secret");
    ADD_FAILURE() << "something was written to an expired certificate";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.what(), "write tls " + c.lower().local_addr().to_string() + "->" + where +
                            ": certificate has expired (certificate verify failed)");
  }
  std::error_code ec;
  std::array<char, 1> room;
  EXPECT_EQ(c.read_some(room, ec), 0u) << "it stays refused";
  EXPECT_EQ(ec, tls::errc::expired);
  wg.wait();
}

TEST_FOR_PROCS(tls_certificate, of_clients_is_asked_for_if_the_server_wants_it) {
  const auto& files = pki::get();
  const auto server = being().require_clients_of(files.authority);
  for (const tls::version v : kBothVersions) {
    const auto p =
        secured(trusting().versions(v, v).identity(files.user.chain, files.user.key), server);
    EXPECT_EQ(p.there.peer_name(), "weaver");
    EXPECT_EQ(p.here.peer_name(), "localhost") << "the first of its DNS names";
    expect_passes(p.here, p.there, "from the weaver");

    // In TLS 1.3 the client learns of it with its first read.
    for (const auto& config :
         {trusting().versions(v, v),
          trusting().versions(v, v).identity(files.stranger.chain, files.stranger.key)}) {
      const auto refused = unagreed(config, server);
      weft::wait_group wg;
      wg.go([&] {
        std::error_code ec;
        refused.there.handshake(ec);
        EXPECT_EQ(ec, tls::errc::bad_certificate) << ec.message();
        refused.there.close();
      });
      std::array<char, 1> room;
      std::error_code ec;
      EXPECT_EQ(refused.here.read_some(room, ec), 0u);
      EXPECT_EQ(ec, tls::errc::refused) << ec.message();
      wg.wait();
    }
  }
  EXPECT_EQ(secured().there.peer_name(), "") << "it was not asked for";
}

TEST_FOR_PROCS(tls_protocols, the_servers_favourite_of_what_is_offered_is_spoken) {
  const auto server = being().protocols({"h2", "http/1.1"});
  const auto p = secured(trusting().protocols({"http/1.1", "gopher", "h2"}), server);
  EXPECT_EQ(p.here.agreed_protocol(), "h2");
  EXPECT_EQ(p.there.agreed_protocol(), "h2");
  EXPECT_EQ(secured(trusting(), server).here.agreed_protocol(), "") << "nobody asked";
  EXPECT_EQ(secured(trusting().protocols({"h2"})).here.agreed_protocol(), "") << "nobody answered";

  const verdicts v = agree(unagreed(trusting().protocols({"gopher"}), server));
  EXPECT_EQ(v.client, tls::errc::refused) << v.client.message();
  EXPECT_EQ(v.server, tls::errc::protocol) << v.server.message();
}

TEST_FOR_PROCS(tls_versions, that_nobody_has_in_common_are_refused) {
  const auto old = tls::version::tls_1_2;
  const auto young = tls::version::tls_1_3;
  for (const auto& p : {unagreed(trusting().versions(young), being().versions(old, old)),
                        unagreed(trusting().versions(old, old), being().versions(young))}) {
    const verdicts v = agree(p);
    EXPECT_TRUE(v.client);
    EXPECT_TRUE(v.server);
  }
  EXPECT_EQ(secured(trusting(), being().versions(old, old)).here.agreed_version(), old);
  EXPECT_EQ(secured().here.agreed_version(), young);
}

}  // namespace
