// peer.cpp: who the other side is, by its certificate.
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

#include "net/tls/error.hpp"
#include "net/tls/session.hpp"

namespace weft::inline v1::net::tls::detail {

namespace {

struct certificate_deleter {
  void operator()(X509* x) const noexcept { X509_free(x); }
};
using certificate = std::unique_ptr<X509, certificate_deleter>;

std::string text_of(const ASN1_STRING* s) {
  unsigned char* text = nullptr;
  const int n = ASN1_STRING_to_UTF8(&text, s);
  if (n < 0) return {};
  std::string copy(reinterpret_cast<const char*>(text), static_cast<std::size_t>(n));
  OPENSSL_free(text);
  return copy;
}

std::string common_name(const X509* x) {
  const X509_NAME* const subject = X509_get_subject_name(x);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  return text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

std::string first_dns_name(const X509* x) {
  auto* const names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(x, NID_subject_alt_name, nullptr, nullptr));
  std::string found;
  for (int i = 0; i < sk_GENERAL_NAME_num(names) && found.empty(); ++i) {
    const GENERAL_NAME* const each = sk_GENERAL_NAME_value(names, i);
    if (each->type == GEN_DNS) found = text_of(each->d.dNSName);
  }
  GENERAL_NAMES_free(names);
  return found;
}

}  // namespace

std::string session::peer_name() {
  const std::lock_guard hold(inside_);
  const certificate x(SSL_get1_peer_certificate(ssl_.get()));
  std::string name;
  if (x != nullptr) name = common_name(x.get());
  if (x != nullptr && name.empty()) name = first_dns_name(x.get());
  forget_errors();
  return name;
}

}  // namespace weft::inline v1::net::tls::detail
