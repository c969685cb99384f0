// text.cpp: see text.hpp.
#include "os/text.hpp"

#include <unistd.h>

#include <cerrno>

#include "os/system_call.hpp"

namespace weft::os {

void write_all(int fd, std::string_view text) noexcept {
  const int saved = errno;
  while (!text.empty()) {
    const ssize_t n = transfer(site::message_write, text.size(),
                               [&](std::size_t most) { return ::write(fd, text.data(), most); });
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  errno = saved;
}

}  // namespace weft::os
