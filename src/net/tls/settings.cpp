// settings.cpp: an SSL_CTX from what the user said. See settings.hpp.
#include "net/tls/settings.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "net/tls/error.hpp"
#include "net/tls/protocols.hpp"

namespace weft::inline v1::net::tls::detail {

namespace {

// Right after the call that failed.
[[noreturn]] void fail(const std::string& about) {
  throw std::system_error(take_error(), "tls: " + about);
}

int number_of(version v) noexcept {
  return v == version::tls_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;
}

// Before anything else is asked of OpenSSL: it would take itself down when the process exits, under the hands of goroutines that still run.
// A program that has used it before has its own way: then it must not exit while goroutines are at it.
void start_openssl() {
  static const bool has_started = OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;
  if (!has_started) throw std::runtime_error("tls: OpenSSL cannot be used");
}

// OpenSSL would ask on the terminal.
int no_password(char*, int, int, void*) { return -1; }

}  // namespace

void settings::ctx_deleter::operator()(SSL_CTX* ctx) const noexcept { SSL_CTX_free(ctx); }
void settings::ssl_deleter::operator()(SSL* ssl) const noexcept { SSL_free(ssl); }

settings::settings(wishes w) : said_(std::move(w)) {
  start_openssl();
  forget_errors();
  ctx_.reset(SSL_CTX_new(said_.which == side::client ? TLS_client_method() : TLS_server_method()));
  if (ctx_ == nullptr) fail("OpenSSL cannot be used");
  set_basics();
  set_versions();
  set_trust();
  set_identity();
  set_protocols();
}

// Written buffers may move: what a write could not finish is tried again from another goroutine's copy. Idle connections keep no buffers.
void settings::set_basics() {
  SSL_CTX* const ctx = ctx_.get();
  SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(ctx, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_default_passwd_cb(ctx, &no_password);
  // Without one a server that asks for certificates refuses whoever comes back with an old session.
  static constexpr unsigned char kContext[] = "weft";
  if (said_.which == side::server)
    SSL_CTX_set_session_id_context(ctx, kContext, sizeof kContext - 1);
}

void settings::set_versions() {
  if (said_.least > said_.most)
    throw std::invalid_argument("tls: versions: the least is above the most");
  SSL_CTX_set_min_proto_version(ctx_.get(), number_of(said_.least));
  SSL_CTX_set_max_proto_version(ctx_.get(), number_of(said_.most));
}

void settings::set_trust() {
  SSL_CTX* const ctx = ctx_.get();
  const std::string& path = said_.trust_path;
  if (!path.empty()) {
    forget_errors();
    if (SSL_CTX_load_verify_file(ctx, path.c_str()) != 1) fail("trust " + path);
    // Whoever is named is trusted, be it that somebody else vouches for him.
    X509_STORE_set_flags(SSL_CTX_get_cert_store(ctx), X509_V_FLAG_PARTIAL_CHAIN);
  }
  if (said_.which == side::server) {
    if (path.empty()) return;
    forget_errors();
    STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(path.c_str());
    if (names == nullptr) fail("trust " + path);
    SSL_CTX_set_client_CA_list(ctx, names);  // takes them over
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    return;
  }
  if (said_.trusts_anybody) {
    SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, nullptr);
    return;
  }
  forget_errors();
  if (path.empty() && SSL_CTX_set_default_verify_paths(ctx) != 1)
    fail("whom the system trusts cannot be read");
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
}

void settings::set_identity() {
  if (said_.chain_path.empty()) return;
  SSL_CTX* const ctx = ctx_.get();
  forget_errors();
  if (SSL_CTX_use_certificate_chain_file(ctx, said_.chain_path.c_str()) != 1)
    fail("certificate " + said_.chain_path);
  forget_errors();
  if (SSL_CTX_use_PrivateKey_file(ctx, said_.key_path.c_str(), SSL_FILETYPE_PEM) != 1)
    fail("key " + said_.key_path + " of " + said_.chain_path);
  forget_errors();
  if (SSL_CTX_check_private_key(ctx) != 1)
    fail("key " + said_.key_path + " of " + said_.chain_path);
}

void settings::set_protocols() {
  if (said_.protocols.empty()) return;
  wire_protocols_ = to_wire(said_.protocols);
  if (said_.which == side::server) {
    SSL_CTX_set_alpn_select_cb(ctx_.get(), &choose_protocol, &wire_protocols_);
  } else if (SSL_CTX_set_alpn_protos(ctx_.get(),
                                     reinterpret_cast<const unsigned char*>(wire_protocols_.data()),
                                     static_cast<unsigned>(wire_protocols_.size())) != 0) {
    throw std::bad_alloc();  // this one says 0 when all is well
  }
}

// "example.org.", and the interface after an address, mean something to the resolver only. A dot in front would mean every host of that
// domain to OpenSSL. The common name is not looked at, as nobody does any more (RFC 9525).
void settings::set_name(SSL* ssl, std::string_view name) const {
  std::string plain(name.substr(0, name.find('%')));
  if (plain.ends_with('.')) plain.pop_back();
  if (plain.empty()) {
    if (said_.trusts_anybody) return;
    throw std::invalid_argument(
        "tls: whom the server's certificate must be of is not known: no name");
  }
  forget_errors();
  X509_VERIFY_PARAM* const param = SSL_get0_param(ssl);
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const bool can_be = !plain.starts_with('.') && plain.find('\0') == std::string::npos;
  const bool is_address = can_be && X509_VERIFY_PARAM_set1_ip_asc(param, plain.c_str()) == 1;
  // An address is not told to the server: only names are (RFC 6066).
  const bool is_name = can_be && !is_address &&
                       X509_VERIFY_PARAM_set1_host(param, plain.data(), plain.size()) == 1 &&
                       SSL_set_tlsext_host_name(ssl, plain.c_str()) == 1;
  forget_errors();
  if (!is_address && !is_name)
    throw std::invalid_argument("tls: neither a host's name nor an address: " + plain);
}

settings::ssl_ptr settings::make(std::string_view name) const {
  forget_errors();
  ssl_ptr ssl(SSL_new(ctx_.get()));
  if (ssl == nullptr) fail("a connection cannot be made");
  if (said_.which == side::server) {
    SSL_set_accept_state(ssl.get());
  } else {
    SSL_set_connect_state(ssl.get());
    set_name(ssl.get(), said_.server_name.empty() ? name : std::string_view(said_.server_name));
  }
  return ssl;
}

}  // namespace weft::inline v1::net::tls::detail
