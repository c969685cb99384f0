// settings.hpp: what a config says, and OpenSSL's form of it.
//
// Never changed once made: a config that is changed gets new ones. So they may be shared by any number of connections and threads, and a
// connection keeps what it was made with.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/net/tls.hpp>

namespace weft::inline v1::net::tls::detail {

enum class side : std::uint8_t { client, server };

// As the user said it.
struct wishes {
  side which = side::client;
  std::string trust_path;  // "": the system's; a server: nobody is asked for a certificate
  std::string chain_path;
  std::string key_path;
  std::string server_name;
  std::vector<std::string> protocols;
  version least = version::tls_1_2;
  version most = version::tls_1_3;
  bool trusts_anybody = false;
};

class settings {
 public:
  // Throws std::system_error for what cannot be used, std::invalid_argument for what makes no sense.
  explicit settings(wishes w);
  settings(const settings&) = delete;
  settings& operator=(const settings&) = delete;

  const wishes& said() const noexcept { return said_; }

  struct ssl_deleter {
    void operator()(SSL* ssl) const noexcept;
  };
  using ssl_ptr = std::unique_ptr<SSL, ssl_deleter>;
  // A connection that wants to begin. name: of the server, as a client sees it.
  ssl_ptr make(std::string_view name) const;

 private:
  struct ctx_deleter {
    void operator()(SSL_CTX* ctx) const noexcept;
  };

  void set_basics();
  void set_versions();
  void set_trust();
  void set_identity();
  void set_protocols();
  void set_name(SSL* ssl, std::string_view name) const;

  const wishes said_;
  std::string wire_protocols_;  // as they go over the wire
  std::unique_ptr<SSL_CTX, ctx_deleter> ctx_;
};

// The only one who makes handles and looks into configs.
class access {
 public:
  static const std::shared_ptr<const settings>& settings_of(const client_config& c) noexcept {
    return c.settings_;
  }
  static const std::shared_ptr<const settings>& settings_of(const server_config& c) noexcept {
    return c.settings_;
  }
  static conn make_conn(std::shared_ptr<session> s) noexcept {
    conn c;
    c.impl_ = std::move(s);
    return c;
  }
};

}  // namespace weft::inline v1::net::tls::detail
