// error.cpp: the category of OpenSSL's errors. See error.hpp.
#include "net/tls/error.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <string>

#include <weft/net/tls.hpp>

namespace weft::inline v1::net::tls {

namespace {

constexpr int kFirstPacked = 1 << 23;  // ERR_PACK: the library's number stands from there on
constexpr int kFirstAlert =
    1000;  // SSL_AD_REASON_OFFSET: reasons from there on came from the other side

bool is_about_certificate(int value) noexcept { return value < kFirstPacked; }

int reason_of(int value) noexcept { return ERR_GET_REASON(static_cast<unsigned long>(value)); }
bool is_of_ssl(int value) noexcept {
  return ERR_GET_LIB(static_cast<unsigned long>(value)) == ERR_LIB_SSL;
}

bool is_not_trusted(int value) noexcept {
  switch (value) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
    case X509_V_ERR_CERT_REJECTED:
      return true;
    default:
      return false;
  }
}

bool is_expired(int value) noexcept {
  return value == X509_V_ERR_CERT_HAS_EXPIRED || value == X509_V_ERR_CERT_NOT_YET_VALID;
}

bool is_wrong_name(int value) noexcept {
  return value == X509_V_ERR_HOSTNAME_MISMATCH || value == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

bool is_bad_certificate(int value) noexcept {
  return is_about_certificate(value) ||
         (is_of_ssl(value) && reason_of(value) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE);
}

bool is_alert(int value) noexcept {
  return !is_about_certificate(value) && is_of_ssl(value) && reason_of(value) >= kFirstAlert;
}

bool is_a(int value, errc e) noexcept {
  switch (e) {
    case errc::bad_certificate:
      return is_bad_certificate(value);
    case errc::not_trusted:
      return is_not_trusted(value);
    case errc::expired:
      return is_expired(value);
    case errc::wrong_name:
      return is_wrong_name(value);
    case errc::refused:
      return is_alert(value);
    case errc::protocol:
      return !is_bad_certificate(value) && !is_alert(value);
  }
  return false;
}

const char* name_of(errc e) noexcept {
  switch (e) {
    case errc::bad_certificate:
      return "the other side's certificate was refused";
    case errc::not_trusted:
      return "nobody who is trusted vouches for the certificate";
    case errc::expired:
      return "the certificate has expired or is not valid yet";
    case errc::wrong_name:
      return "the certificate is somebody else's";
    case errc::refused:
      return "the other side refused";
    case errc::protocol:
      return "no TLS, or a kind that is not allowed";
  }
  return "unknown TLS error";
}

class tls_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weft.tls"; }
  std::string message(int value) const override {
    if (is_about_certificate(value))
      return std::string(X509_verify_cert_error_string(value)) + " (certificate verify failed)";
    const char* const reason = ERR_reason_error_string(static_cast<unsigned long>(value));
    return reason != nullptr ? reason : "unknown error of OpenSSL's";
  }
};

class condition_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weft.tls.kind"; }
  std::string message(int value) const override { return name_of(static_cast<errc>(value)); }
  bool equivalent(const std::error_code& code, int condition) const noexcept override {
    return code && code.category() == category() &&
           is_a(code.value(), static_cast<errc>(condition));
  }
};

}  // namespace

// Never destroyed: threads may still ask when static destructors run.
const std::error_category& category() noexcept {
  static const tls_category& only = *new tls_category;
  return only;
}

std::error_condition make_error_condition(errc e) noexcept {
  static const condition_category& only = *new condition_category;
  return {static_cast<int>(e), only};
}

namespace detail {

namespace {

std::error_code to_code(unsigned long packed) noexcept {
  if (packed == 0)
    return make_error_code(std::errc::not_enough_memory);  // all that OpenSSL is silent about
  if (ERR_SYSTEM_ERROR(packed)) return {ERR_GET_REASON(packed), std::system_category()};
  if (ERR_GET_REASON(packed) == ERR_R_MALLOC_FAILURE)
    return make_error_code(std::errc::not_enough_memory);
  return {static_cast<int>(packed), category()};
}

bool says_bad_certificate(unsigned long packed) noexcept {
  return ERR_GET_LIB(packed) == ERR_LIB_SSL &&
         ERR_GET_REASON(packed) == SSL_R_CERTIFICATE_VERIFY_FAILED;
}

}  // namespace

void forget_errors() noexcept { ERR_clear_error(); }

std::error_code take_error() noexcept {
  const std::error_code why = to_code(ERR_get_error());
  ERR_clear_error();
  return why;
}

std::error_code take_error(const SSL* ssl) noexcept {
  if (says_bad_certificate(ERR_peek_error()) && SSL_get_verify_result(ssl) != X509_V_OK) {
    ERR_clear_error();
    return {static_cast<int>(SSL_get_verify_result(ssl)), category()};
  }
  return take_error();
}

}  // namespace detail

}  // namespace weft::inline v1::net::tls
