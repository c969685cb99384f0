// text.cpp: see text.hpp.
#include "os/text.hpp"

#include <poll.h>
#include <sys/uio.h>
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

namespace {

// Also where writing fails at once: nobody has the other end.
bool has_room(int fd) noexcept {
  pollfd at{fd, POLLOUT, 0};
  return call(site::message_room, ::poll, &at, nfds_t{1}, 0) == 1;
}

// Tells a pipe that somebody else has filled since from one with room. Not all files, and not all kernels, know the flag.
ssize_t write_without_waiting(int fd, std::string_view text) noexcept {
  return transfer(site::message_try, text.size(), [&](std::size_t most) {
    const iovec all{const_cast<char*>(text.data()), most};
    return ::pwritev2(fd, &all, 1, -1, RWF_NOWAIT);
  });
}

}  // namespace

bool write_if_room(int fd, std::string_view text) noexcept {
  const int saved = errno;
  bool is_there_room = has_room(fd);
  if (is_there_room && write_without_waiting(fd, text) < 0) {
    // Full all the same, and that stays so where nobody reads; where somebody does, the wait has an end.
    is_there_room = errno != EAGAIN || has_room(fd);
    if (is_there_room) write_all(fd, text);
  }
  errno = saved;
  return is_there_room;
}

}  // namespace weft::os
