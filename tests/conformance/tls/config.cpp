// config.cpp: what cannot be used is refused at once, by name; configs are values.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "conformance/tls/secured.hpp"

using namespace weft::test;
namespace net = weft::net;

namespace {

std::string complaint_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no complaint";
}

void expect_in(const std::string& all, const std::string& part) {
  EXPECT_NE(all.find(part), std::string::npos) << all << "\nlacks: " << part;
}

TEST(tls_config, names_the_file_that_is_missing_and_why) {
  const auto& files = pki::get();
  const std::string missing = files.folder + "/missing.pem";
  EXPECT_EQ(complaint_of([&] { trusting().trust_file(missing); }),
            "tls: trust " + missing + ": No such file or directory");
  EXPECT_EQ(complaint_of([&] { tls::server_config(missing, files.server.key); }),
            "tls: certificate " + missing + ": No such file or directory");
  EXPECT_EQ(complaint_of([&] { tls::server_config(files.server.chain, missing); }),
            "tls: key " + missing + " of " + files.server.chain + ": No such file or directory");
  EXPECT_EQ(complaint_of([&] { being().require_clients_of(missing); }),
            "tls: trust " + missing + ": No such file or directory");
}

TEST(tls_config, names_the_file_that_is_of_no_use) {
  const auto& files = pki::get();
  expect_in(complaint_of([&] { trusting().trust_file(files.broken); }), "trust " + files.broken);
  expect_in(complaint_of([&] { tls::server_config(files.broken, files.server.key); }),
            "certificate " + files.broken);
  expect_in(complaint_of([&] { tls::server_config(files.server.chain, files.broken); }),
            "key " + files.broken);
  EXPECT_EQ(complaint_of([&] { tls::server_config(files.server.chain, files.user.key); }),
            "tls: key " + files.user.key + " of " + files.server.chain + ": key values mismatch");
  // It is not asked for on the terminal.
  expect_in(complaint_of([&] { tls::server_config(files.server.chain, files.encrypted_key); }),
            "key " + files.encrypted_key);
}

TEST(tls_config, refuses_what_makes_no_sense) {
  EXPECT_THROW(tls::server_config("", "key.pem"), std::invalid_argument);
  EXPECT_THROW(tls::server_config("chain.pem", ""), std::invalid_argument);
  EXPECT_THROW(trusting().trust_file(""), std::invalid_argument);
  EXPECT_THROW(trusting().identity("", ""), std::invalid_argument);
  EXPECT_THROW(trusting().server_name(""), std::invalid_argument);
  EXPECT_THROW(trusting().protocols({"h2", ""}), std::invalid_argument);
  EXPECT_THROW(being().protocols({std::string(256, 'x')}), std::invalid_argument);
  EXPECT_NO_THROW(trusting().protocols({std::string(255, 'x')}));
  EXPECT_THROW(trusting().versions(tls::version::tls_1_3, tls::version::tls_1_2),
               std::invalid_argument);
}

TEST(tls_config, of_a_server_without_a_name_is_refused) {
  weft::test::run_on(1, [] {
    const auto p = connected();
    for (const std::string& name :
         {std::string(), std::string("."), std::string(".weft.test"), std::string(300, 'x'),
          std::string("localhost\0.evil.test", 20), std::string("127.0.0.1\0.evil.test", 20)})
      EXPECT_THROW((void)tls::client(p.here, trusting(), name), std::invalid_argument) << name;
    EXPECT_THROW((void)tls::dial("udp", "127.0.0.1:1"), std::system_error);
    std::error_code ec;
    (void)tls::dial("udp", "127.0.0.1:1", trusting(), ec);
    EXPECT_EQ(ec, std::errc::protocol_not_supported);
  });
}

TEST(tls_config, is_a_value) {
  weft::test::run_on(1, [] {
    const auto strict = trusting();
    auto copy = strict;
    copy.server_name("elsewhere.test");
    EXPECT_FALSE(agree(unagreed(strict)).client) << "the copy's name is the copy's";
    EXPECT_EQ(agree(unagreed(copy)).client, tls::errc::wrong_name);
    // One that could not be changed is as it was.
    EXPECT_THROW(copy.trust_file(pki::get().broken), std::system_error);
    EXPECT_FALSE(agree(unagreed(copy.server_name("localhost"))).client);
  });
}

}  // namespace
