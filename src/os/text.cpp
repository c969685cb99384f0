// text.cpp: see text.hpp.
#include "os/text.hpp"

#include <unistd.h>

#include <cerrno>

namespace weft::os {

void write_all(int fd, std::string_view text) noexcept {
  const int saved = errno;
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  errno = saved;
}

}  // namespace weft::os
