// copy.hpp: from one stream to another, until the first has ended.
//
//   weft::wait_group both;                                                          // a proxy
//   both.go([=] { weft::io::copy(server, client); server.shutdown(); });
//   both.go([=] { weft::io::copy(client, server); client.shutdown(); });
//   both.wait();
//
// Between sockets and pipes the bytes stay in the kernel (splice): large ones go through 1.3 to 1.5 times as fast as by a loop with a buffer of
// 64 KiB, small ones no slower.
// From a file to a connection: net::conn::send_file.
//
// Blocks: this goroutine only (from a plain thread: that thread). Async-signal-safe: no.
#pragma once

#include <cstdint>
#include <system_error>

#include <weft/detail/config.hpp>
#include <weft/io/stream.hpp>

namespace weft::inline v1::io {

inline constexpr std::uint64_t everything = UINT64_MAX;

// Reads `from` and writes to `to` what it has read, until `from` ends or so many bytes have been written. How many. Deadlines of both
// count. Of packets of at most 64 KiB each becomes one, and an empty one is an end. After an error some of what was read may not have been written.
WEFT_API WEFT_MAY_SWITCH std::uint64_t copy(const stream& to, const stream& from,
                                            std::uint64_t at_most = everything);
WEFT_API WEFT_MAY_SWITCH std::uint64_t copy(const stream& to, const stream& from,
                                            std::error_code& ec);
WEFT_API WEFT_MAY_SWITCH std::uint64_t copy(const stream& to, const stream& from,
                                            std::uint64_t at_most, std::error_code& ec);

}  // namespace weft::inline v1::io
