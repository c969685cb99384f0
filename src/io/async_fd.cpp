// async_fd.cpp: descriptors that somebody else has opened, and pipes.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "io/descriptor.hpp"
#include "os/system_call.hpp"

#include <weft/io/async_fd.hpp>

namespace weft::inline v1::io {

namespace {

detail::descriptor_kind kind_of(int fd) noexcept {
  struct stat info{};
  if (os::call(os::site::kind_stat, ::fstat, fd, &info) != 0 || !S_ISSOCK(info.st_mode))
    return detail::descriptor_kind::other;
  int type = SOCK_STREAM;
  socklen_t size = sizeof type;
  os::call(os::site::kind_type, ::getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size);
  return type == SOCK_STREAM ? detail::descriptor_kind::stream_socket
                             : detail::descriptor_kind::packet_socket;
}

}  // namespace

async_fd::async_fd(int fd, std::error_code& ec)
    : stream(detail::descriptor::adopt(fd, kind_of(fd), ec)) {
  if (impl_ != nullptr) impl_->name = "fd " + std::to_string(fd);
}

async_fd::async_fd(int fd) {
  std::error_code ec;
  *this = async_fd(fd, ec);
  check(ec, "adopt", " fd " + std::to_string(fd));
}

void async_fd::wait_readable(std::error_code& ec) const {
  if (detail::descriptor* const d = get(ec)) d->wait(rt::poll_for::reading, ec);
}

void async_fd::wait_readable() const {
  std::error_code ec;
  wait_readable(ec);
  check(ec, "wait for");
}

void async_fd::wait_writable(std::error_code& ec) const {
  if (detail::descriptor* const d = get(ec)) d->wait(rt::poll_for::writing, ec);
}

void async_fd::wait_writable() const {
  std::error_code ec;
  wait_writable(ec);
  check(ec, "wait for");
}

pipe_ends pipe() {
  int fds[2];
  if (os::call(os::site::pipe, ::pipe2, fds, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::system_category(), "pipe");
  std::error_code ec;
  async_fd reader(fds[0], ec);
  if (ec) {
    ::close(fds[0]);
    ::close(fds[1]);
    throw std::system_error(ec, "pipe");
  }
  async_fd writer(fds[1], ec);
  if (ec) {
    ::close(fds[1]);
    throw std::system_error(ec, "pipe");
  }
  return {std::move(reader), std::move(writer)};
}

}  // namespace weft::inline v1::io
