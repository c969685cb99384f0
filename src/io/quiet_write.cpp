// quiet_write.cpp: see quiet_write.hpp.
#include "io/quiet_write.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "os/system_call.hpp"

namespace weft::inline v1::io::detail {

namespace {

template <class Call>
ssize_t quietly(Call call) noexcept {
  sigset_t pipe_only;
  sigset_t before;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  const bool was_blocked = sigismember(&before, SIGPIPE) == 1;
  sigset_t waiting;
  // One that was there before is not ours to take.
  const bool was_waiting =
      was_blocked && sigpending(&waiting) == 0 && sigismember(&waiting, SIGPIPE) == 1;
  const ssize_t n = call();
  const int why = errno;
  if (n == -1 && why == EPIPE && !was_waiting) {
    const timespec at_once{};
    while (sigtimedwait(&pipe_only, nullptr, &at_once) == -1 && errno == EINTR) continue;
  }
  if (!was_blocked) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = why;
  return n;
}

}  // namespace

ssize_t write_quietly(int fd, const iovec* parts, int nparts) noexcept {
  return quietly([&] {
    return os::transfer(
        os::site::stream_write_parts, static_cast<std::size_t>(nparts),
        [&](std::size_t most) { return ::writev(fd, parts, static_cast<int>(most)); });
  });
}

ssize_t write_quietly(int fd, const void* data, std::size_t size) noexcept {
  return quietly([&] {
    return os::transfer(os::site::stream_write, size,
                        [&](std::size_t most) { return ::write(fd, data, most); });
  });
}

ssize_t send_file_quietly(int to, int file, off_t* at, std::size_t size) noexcept {
  return quietly([&] {
    return os::transfer(os::site::send_file, size,
                        [&](std::size_t most) { return ::sendfile(to, file, at, most); });
  });
}

ssize_t splice_quietly(int pipe, int to, std::size_t size) noexcept {
  return quietly([&] {
    return os::transfer(os::site::copy_out, size, [&](std::size_t most) {
      return ::splice(pipe, nullptr, to, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    });
  });
}

}  // namespace weft::inline v1::io::detail
