// quiet_write.hpp: writing to what is no socket, and from a file or a pipe to one, without SIGPIPE.
//
// send() has a flag for it, write(), sendfile() and splice() do not. So the signal is blocked for the moment, and one that the call raised is taken away. A
// goroutine is not moved to another thread meanwhile: there is no call into weft in between, and one that is stopped stays where it is.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>

namespace weft::inline v1::io::detail {

ssize_t write_quietly(int fd, const void* data, std::size_t size) noexcept;
ssize_t write_quietly(int fd, const iovec* parts, int nparts) noexcept;
ssize_t send_file_quietly(int to, int file, off_t* at, std::size_t size) noexcept;
// Out of a pipe; without waiting for either.
ssize_t splice_quietly(int pipe, int to, std::size_t size) noexcept;

}  // namespace weft::inline v1::io::detail
