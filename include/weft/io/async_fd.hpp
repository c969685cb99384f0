// async_fd.hpp: any descriptor that can be waited for, and pipes.
//
//   weft::io::async_fd keyboard(::dup(0));
//   auto [reader, writer] = weft::io::pipe();
#pragma once

#include <system_error>

#include <weft/io/stream.hpp>

namespace weft::inline v1::io {

// Adopts a descriptor of the kernel's: pipe, socket, terminal, eventfd, timerfd, pidfd, inotify ... It is made non-blocking, and closed with the
// last copy of the handle. Writes to a pipe that nobody reads fail with EPIPE; no signal is raised.
class WEFT_API async_fd : public stream {
 public:
  async_fd() noexcept = default;
  // Throws std::system_error, and fd is still the caller's: EPERM for what cannot be waited for (regular files: io::file).
  explicit async_fd(int fd);
  async_fd(int fd, std::error_code& ec);

  // Waits until a read, or a write, would not wait. For descriptors that are used by other means than read and write.
  WEFT_MAY_SWITCH void wait_readable() const;
  WEFT_MAY_SWITCH void wait_readable(std::error_code& ec) const;
  WEFT_MAY_SWITCH void wait_writable() const;
  WEFT_MAY_SWITCH void wait_writable(std::error_code& ec) const;
};

struct pipe_ends {
  async_fd reader;
  async_fd writer;
};

// A pipe of the kernel's. Both ends are closed when a program is executed.
WEFT_API pipe_ends pipe();

}  // namespace weft::inline v1::io
