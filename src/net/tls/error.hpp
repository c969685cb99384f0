// error.hpp: from what OpenSSL says to an error_code.
//
// OpenSSL keeps its errors in a queue per thread. A goroutine stays on its thread between two calls of the runtime, and only there; so
// the queue is emptied right before a call of OpenSSL's and read right after it, and nothing in between may park: neither waiting nor
// taking or giving back a lock of weft's. (One that is stopped by force goes on on the same thread.)
//
// Values of tls::category() are OpenSSL's: what it found wrong with a certificate (X509_V_ERR_..., all below 1 << 23), or library and reason
// of an error (ERR_PACK, all above).
#pragma once

#include <openssl/types.h>

#include <system_error>

namespace weft::inline v1::net::tls::detail {

// Before a call of OpenSSL's.
void forget_errors() noexcept;

// After one that failed: the first thing that went wrong, which is the cause of the others. An error of the system's, as of a file that is
// not there, comes in std::system_category(). Leaves the queue empty.
std::error_code take_error() noexcept;

// The same after a call with a connection: what is wrong with its partner's certificate, if it was that.
std::error_code take_error(const SSL* ssl) noexcept;

}  // namespace weft::inline v1::net::tls::detail
