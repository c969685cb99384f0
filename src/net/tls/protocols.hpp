// protocols.hpp: what is spoken above TLS, as both sides agree on it (ALPN, RFC 7301).
#pragma once

#include <openssl/types.h>

#include <string>
#include <vector>

namespace weft::inline v1::net::tls::detail {

// As it goes over the wire: each with its length before it. Throws std::invalid_argument for one that is empty or has more than 255 bytes.
std::string to_wire(const std::vector<std::string>& protocols);

// A server's choice: what it likes best of what the client offers; nothing in common ends the handshake. ours: a std::string of to_wire().
int choose_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* nchosen,
                    const unsigned char* offered, unsigned noffered, void* ours);

}  // namespace weft::inline v1::net::tls::detail
