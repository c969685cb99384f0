// wire.cpp: see wire.hpp.
#include "net/tls/wire.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace weft::inline v1::net::tls::detail {

namespace {

wire& wire_of(BIO* bio) noexcept { return *static_cast<wire*>(BIO_get_data(bio)); }

}  // namespace

int wire::read(BIO* bio, char* into, int n) {
  BIO_clear_retry_flags(bio);
  wire& w = wire_of(bio);
  if (w.nin_ == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const std::size_t taken = std::min(w.nin_, static_cast<std::size_t>(n));
  std::memcpy(into, w.in_, taken);
  w.in_ += taken;
  w.nin_ -= taken;
  return static_cast<int>(taken);
}

// No exception passes through OpenSSL.
int wire::write(BIO* bio, const char* from, int n) {
  BIO_clear_retry_flags(bio);
  try {
    wire_of(bio).out.insert(wire_of(bio).out.end(), from, from + n);
    return n;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

// Flushing always works; whatever else OpenSSL would like to know, there is no such thing.
long wire::control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

// Never freed: connections may outlive static objects.
const BIO_METHOD* wire::method() {
  static const BIO_METHOD* const only = [] {
    BIO_METHOD* const m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "weft");
    if (m == nullptr) throw std::bad_alloc();
    BIO_meth_set_read(m, &wire::read);
    BIO_meth_set_write(m, &wire::write);
    BIO_meth_set_ctrl(m, &wire::control);
    return m;
  }();
  return only;
}

void wire::attach_to(SSL* ssl) {
  BIO* const bio = BIO_new(method());
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);  // one for both directions, and the connection's from now on
}

void wire::give(const unsigned char* bytes, std::size_t n) noexcept {
  in_ = bytes;
  nin_ = n;
}

}  // namespace weft::inline v1::net::tls::detail
