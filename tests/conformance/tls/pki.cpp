// pki.cpp: see pki.hpp.
#include "conformance/tls/pki.hpp"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace weft::test {

namespace {

template <auto Free>
struct freed {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed<&EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed<&X509_free>>;

constexpr long kDay = 24 * 60 * 60;
const char* const kServerNames = "DNS:localhost,DNS:*.weft.test,IP:127.0.0.1,IP:::1";

void require(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "pki: %s\n", what);
  std::abort();
}

struct wanted {
  const char* common_name = "";
  const char* names = nullptr;
  bool is_authority = false;
  long from = -kDay;
  long until = 10 * kDay;
};

void add_extension(X509* x, int what, const char* text) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, x, x, nullptr, nullptr, 0);
  X509_EXTENSION* const e = X509V3_EXT_conf_nid(nullptr, &context, what, text);
  require(e != nullptr && X509_add_ext(x, e, -1) == 1, "an extension");
  X509_EXTENSION_free(e);
}

// A key and its certificate; without an issuer by itself.
struct made {
  key_ptr key;
  certificate_ptr certificate;

  explicit made(const wanted& w, const made* issuer = nullptr)
      : key(EVP_EC_gen("P-256")), certificate(X509_new()) {
    static long serial = 1;
    X509* const x = certificate.get();
    require(key != nullptr && x != nullptr, "a key");
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(x), w.from);
    X509_gmtime_adj(X509_getm_notAfter(x), w.until);
    X509_set_pubkey(x, key.get());
    X509_NAME* const subject = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>("weft's tests"), -1, -1, 0);
    if (*w.common_name != '\0')
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(w.common_name), -1, -1, 0);
    X509_set_issuer_name(
        x, issuer != nullptr ? X509_get_subject_name(issuer->certificate.get()) : subject);
    if (w.is_authority) add_extension(x, NID_basic_constraints, "critical,CA:TRUE");
    if (w.names != nullptr) add_extension(x, NID_subject_alt_name, w.names);
    require(X509_sign(x, issuer != nullptr ? issuer->key.get() : key.get(), EVP_sha256()) > 0,
            "a signature");
  }
};

template <class Write>
std::string write_file(const std::string& path, Write write) {
  std::FILE* const f = std::fopen(path.c_str(), "w");
  require(f != nullptr && write(f) == 1 && std::fclose(f) == 0, path.c_str());
  return path;
}

std::string write_certificate(const std::string& path, const made& m) {
  return write_file(path, [&](std::FILE* f) { return PEM_write_X509(f, m.certificate.get()); });
}

identity_files write_identity(const std::string& folder, const char* name, const made& m) {
  const std::string path = folder + "/" + name;
  write_file(path + ".key", [&](std::FILE* f) {
    return PEM_write_PrivateKey(f, m.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return {write_certificate(path + ".pem", m), path + ".key"};
}

}  // namespace

pki::pki() {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft-pki-XXXXXX").string();
  require(::mkdtemp(pattern.data()) != nullptr, "a folder");
  folder = pattern;

  const made ours({.common_name = "weft's authority", .is_authority = true});
  const made others({.common_name = "somebody's authority", .is_authority = true});
  const made s({.names = kServerNames}, &ours);
  authority = write_certificate(folder + "/ca.pem", ours);
  other_authority = write_certificate(folder + "/other_ca.pem", others);
  server = write_identity(folder, "server", s);
  elsewhere = write_identity(folder, "elsewhere",
                             made({.names = "DNS:elsewhere.test,IP:192.0.2.1"}, &ours));
  expired = write_identity(folder, "expired",
                           made({.names = kServerNames, .from = -9 * kDay, .until = -kDay}, &ours));
  unborn = write_identity(folder, "unborn", made({.names = kServerNames, .from = kDay}, &ours));
  stranger = write_identity(folder, "stranger", made({.names = kServerNames}, &others));
  by_itself = write_identity(folder, "by_itself", made({.names = kServerNames}));
  by_name_only = write_identity(folder, "by_name_only", made({.common_name = "localhost"}, &ours));
  user = write_identity(folder, "user", made({.common_name = "weaver"}, &ours));
  broken = write_file(folder + "/broken.pem",
                      [](std::FILE* f) { return std::fputs("nothing of use\n", f) >= 0 ? 1 : 0; });
  encrypted_key = write_file(folder + "/encrypted.key", [&](std::FILE* f) {
    const unsigned char password[] = "secret";
    return PEM_write_PrivateKey(f, s.key.get(), EVP_aes_128_cbc(), password, 6, nullptr, nullptr);
  });
}

pki::~pki() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

const pki& pki::get() {
  static const pki only;
  return only;
}

}  // namespace weft::test
