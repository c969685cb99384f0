// wire.hpp: what OpenSSL takes for a network: two pieces of memory, one that has come and one that is to go.
//
// A BIO of our own instead of OpenSSL's memory BIOs: what was read from the network is taken from where it was read to, and what is to be
// sent lies in a vector that is swapped with one that was sent; so neither is copied once more. Reading where there is nothing says
// "try again"; writing always works, so that OpenSSL never asks for room.
//
// Not synchronised: all of it is used in the session's turn.
#pragma once

#include <openssl/bio.h>
#include <openssl/types.h>

#include <cstddef>
#include <vector>

namespace weft::inline v1::net::tls::detail {

class wire {
 public:
  wire() noexcept = default;
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  // Becomes the connection's network. Throws std::bad_alloc.
  void attach_to(SSL* ssl);

  // What has come; it must stay there until it is taken, and what was given before must have been taken.
  void give(const unsigned char* bytes, std::size_t n) noexcept;
  bool is_empty() const noexcept { return nin_ == 0; }

  std::vector<unsigned char> out;  // to be sent, in this order

 private:
  static const BIO_METHOD* method();
  static int read(BIO* bio, char* into, int n);
  static int write(BIO* bio, const char* from, int n);
  static long control(BIO* bio, int command, long number, void* pointer);

  const unsigned char* in_ = nullptr;
  std::size_t nin_ = 0;
};

}  // namespace weft::inline v1::net::tls::detail
