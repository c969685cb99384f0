// text.cpp: see text.hpp.
#include "os/text.hpp"

#include <unistd.h>

#include <cerrno>

#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/system_call.hpp"

namespace weft::os {

void write_all(int fd, std::string_view text) noexcept {
  constexpr int kMostPauses = 1000;  // then nobody reads it
  int npauses = 0;
  const int saved = errno;
  while (!text.empty()) {
    const ssize_t n = transfer(site::message_write, text.size(),
                               [&](std::size_t most) { return ::write(fd, text.data(), most); });
    if (n < 0 && errno == EINTR) continue;
    // Somebody has made it non-blocking (often another process that has it as well), and it is full.
    if (n < 0 && errno == EAGAIN && ++npauses <= kMostPauses) {
      nap(kMillisecond);
      continue;
    }
    if (n <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  errno = saved;
}

}  // namespace weft::os
