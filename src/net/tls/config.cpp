// config.cpp: configs: each change makes new settings, so that copies and connections keep theirs.
#include <stdexcept>
#include <utility>

#include "net/tls/settings.hpp"

#include <weft/net/tls.hpp>

namespace weft::inline v1::net::tls {

namespace {

using detail::settings;
using detail::side;
using detail::wishes;
using settings_ptr = std::shared_ptr<const settings>;

// change(wishes&) as said; if that cannot be had, nothing changes.
template <class Change>
void change(settings_ptr& which, Change how) {
  wishes w = which->said();
  how(w);
  which = std::make_shared<const settings>(std::move(w));
}

void need(const std::string& path, const char* what) {
  if (path.empty()) throw std::invalid_argument(std::string("tls: no file is named for ") + what);
}

// Whoever dials without a config shares it. Never destroyed: it may be wanted when static destructors run.
const settings_ptr& usual() {
  static const settings_ptr& only = *new settings_ptr(std::make_shared<const settings>(wishes{}));
  return only;
}

wishes of_server(const std::string& chain_path, const std::string& key_path) {
  need(chain_path, "the certificate");
  need(key_path, "the key");
  wishes w;
  w.which = side::server;
  w.chain_path = chain_path;
  w.key_path = key_path;
  return w;
}

}  // namespace

client_config::client_config() : settings_(usual()) {}

client_config& client_config::trust_file(const std::string& path) {
  need(path, "whom to trust");
  change(settings_, [&](wishes& w) { w.trust_path = path; });
  return *this;
}

client_config& client_config::identity(const std::string& chain_path, const std::string& key_path) {
  need(chain_path, "the certificate");
  need(key_path, "the key");
  change(settings_, [&](wishes& w) {
    w.chain_path = chain_path;
    w.key_path = key_path;
  });
  return *this;
}

client_config& client_config::server_name(std::string_view name) {
  if (name.empty()) throw std::invalid_argument("tls: server_name: empty");
  change(settings_, [&](wishes& w) { w.server_name = name; });
  return *this;
}

client_config& client_config::protocols(const std::vector<std::string>& alpn) {
  change(settings_, [&](wishes& w) { w.protocols = alpn; });
  return *this;
}

client_config& client_config::versions(version least, version most) {
  change(settings_, [&](wishes& w) {
    w.least = least;
    w.most = most;
  });
  return *this;
}

client_config& client_config::trust_anybody() {
  change(settings_, [](wishes& w) { w.trusts_anybody = true; });
  return *this;
}

server_config::server_config(const std::string& chain_path, const std::string& key_path)
    : settings_(std::make_shared<const settings>(of_server(chain_path, key_path))) {}

server_config& server_config::require_clients_of(const std::string& path) {
  need(path, "whom to trust");
  change(settings_, [&](wishes& w) { w.trust_path = path; });
  return *this;
}

server_config& server_config::protocols(const std::vector<std::string>& alpn) {
  change(settings_, [&](wishes& w) { w.protocols = alpn; });
  return *this;
}

server_config& server_config::versions(version least, version most) {
  change(settings_, [&](wishes& w) {
    w.least = least;
    w.most = most;
  });
  return *this;
}

}  // namespace weft::inline v1::net::tls
