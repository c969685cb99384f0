// tls_name.cpp: whom a client wants to talk to, with anything for a name. Either it is refused, or the server is told exactly that name, or
// it is an address and the server is told none.
#include <openssl/ssl.h>

#include <stdexcept>
#include <string>

#include "fuzz/fuzz.hpp"
#include "net/tls/settings.hpp"

namespace weft {
namespace {

using fuzz::promise;
namespace tls = net::tls::detail;

const tls::settings& anybody() {
  static const tls::settings all([] {
    tls::wishes w;
    w.trusts_anybody = true;
    return w;
  }());
  return all;
}

}  // namespace

FUZZ_TARGET(tls_name) {
  const fuzz::exact name(input);
  std::string plain(input.substr(0, input.find('%')));
  if (plain.ends_with('.')) plain.pop_back();
  try {
    const auto ssl = anybody().make(name);
    const char* const told = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name);
    const char* const address = X509_VERIFY_PARAM_get1_ip_asc(SSL_get0_param(ssl.get()));
    promise(plain.find('\0') == std::string::npos && !plain.starts_with('.'), "that is no name");
    promise(told == nullptr || told == plain, "the server is told the name");
    promise((told != nullptr) + (address != nullptr) + plain.empty() == 1,
            "a name, an address, or nobody");
    OPENSSL_free(const_cast<char*>(address));
  } catch (const std::invalid_argument& e) {
    promise(std::string_view(e.what()).starts_with("tls: "), "the message says whose it is");
  }
}

}  // namespace weft
