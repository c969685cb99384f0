// protocols.cpp: see protocols.hpp.
#include "net/tls/protocols.hpp"

#include <openssl/ssl.h>

#include <stdexcept>

namespace weft::inline v1::net::tls::detail {

namespace {

constexpr std::size_t kLongest = 255;
constexpr std::size_t kMostInAll = 65535;

}  // namespace

std::string to_wire(const std::vector<std::string>& protocols) {
  std::string all;
  for (const std::string& each : protocols) {
    if (each.empty()) throw std::invalid_argument("tls: protocols: one of them is empty");
    if (each.size() > kLongest)
      throw std::invalid_argument("tls: protocols: one has more than 255 bytes: " + each);
    all.push_back(static_cast<char>(each.size()));
    all += each;
  }
  if (all.size() > kMostInAll) throw std::invalid_argument("tls: protocols: too many");
  return all;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* nchosen,
                    const unsigned char* offered, unsigned noffered, void* ours) {
  const std::string& liked = *static_cast<const std::string*>(ours);
  unsigned char* found = nullptr;
  const int verdict =
      SSL_select_next_proto(&found, nchosen, reinterpret_cast<const unsigned char*>(liked.data()),
                            static_cast<unsigned>(liked.size()), offered, noffered);
  if (verdict != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace weft::inline v1::net::tls::detail
