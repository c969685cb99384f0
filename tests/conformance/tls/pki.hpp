// pki.hpp: certificates for tests, made when they are first asked for, in a folder that goes with the process.
//
//   const auto& files = weft::test::pki::get();
//   tls::server_config(files.server.chain, files.server.key);      // of localhost, 127.0.0.1 and ::1; by files.authority
#pragma once

#include <string>

namespace weft::test {

struct identity_files {
  std::string chain;
  std::string key;
};

class pki {
 public:
  static const pki& get();
  pki(const pki&) = delete;
  pki& operator=(const pki&) = delete;

  std::string folder;
  std::string authority;        // whom clients of these tests trust, PEM
  std::string other_authority;  // whom nobody does
  identity_files server;        // of localhost, *.weft.test, 127.0.0.1 and ::1
  identity_files elsewhere;     // of elsewhere.test and 192.0.2.1
  identity_files expired;       // as server, until a day ago
  identity_files unborn;        // as server, from tomorrow on
  identity_files stranger;      // as server, by other_authority
  identity_files by_itself;     // as server, by itself
  identity_files by_name_only;  // common name localhost, and no other
  identity_files user;          // a client's, common name "weaver"
  std::string broken;           // a file that holds nothing of use
  std::string encrypted_key;    // of server, with a password

 private:
  pki();
  ~pki();
};

}  // namespace weft::test
