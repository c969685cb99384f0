// conn.cpp: what a connection has beside being a stream.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "io/quiet_write.hpp"
#include "net/socket.hpp"
#include "os/system_call.hpp"

#include <weft/net/conn.hpp>

namespace weft::inline v1::net {

namespace {

constexpr std::uint64_t kMostPerCall = std::uint64_t{1} << 30;

template <class Call>
void control(io::detail::descriptor* d, Call call, std::error_code& ec) noexcept {
  if (d != nullptr) d->control(call, ec);
}

int set(int fd, int level, int which, int value) noexcept {
  return os::call(os::site::socket_option, ::setsockopt, fd, level, which, &value, sizeof value);
}

}  // namespace

conn::conn(std::shared_ptr<io::detail::descriptor> d,
           std::shared_ptr<const detail::ends> e) noexcept
    : io::stream(std::move(d)), ends_(std::move(e)) {}

const address& conn::local_addr() const noexcept { return detail::local_of(ends_.get()); }
const address& conn::remote_addr() const noexcept { return detail::remote_of(ends_.get()); }

void conn::shutdown(direction what, std::error_code& ec) const noexcept {
  const int how = what == direction::read    ? SHUT_RD
                  : what == direction::write ? SHUT_WR
                                             : SHUT_RDWR;
  control(get(ec), [how](int fd) { return os::call(os::site::shutdown, ::shutdown, fd, how); }, ec);
}
void conn::shutdown(direction what) const {
  std::error_code ec;
  shutdown(what, ec);
  check(ec, "shutdown");
}

void conn::set_no_delay(bool on, std::error_code& ec) const noexcept {
  control(get(ec), [on](int fd) { return set(fd, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0); }, ec);
}
void conn::set_no_delay(bool on) const {
  std::error_code ec;
  set_no_delay(on, ec);
  check(ec, "set no delay");
}

void conn::set_keep_alive(std::chrono::seconds idle, std::error_code& ec) const noexcept {
  const int seconds = static_cast<int>(std::clamp<std::int64_t>(idle.count(), 0, 32767));
  const auto call = [seconds](int fd) {
    if (set(fd, SOL_SOCKET, SO_KEEPALIVE, seconds != 0 ? 1 : 0) != 0) return -1;
    if (seconds == 0) return 0;
    if (set(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds) != 0) return -1;
    return set(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
  };
  control(get(ec), call, ec);
}
void conn::set_keep_alive(std::chrono::seconds idle) const {
  std::error_code ec;
  set_keep_alive(idle, ec);
  check(ec, "set keep alive");
}

void conn::set_linger(std::chrono::seconds how_long, std::error_code& ec) const noexcept {
  const bool is_on = how_long.count() >= 0;
  const linger value{is_on ? 1 : 0,
                     static_cast<int>(std::clamp<std::int64_t>(how_long.count(), 0, 32767))};
  control(
      get(ec),
      [value](int fd) {
        return os::call(os::site::socket_option, ::setsockopt, fd, SOL_SOCKET, SO_LINGER, &value,
                        sizeof value);
      },
      ec);
}
void conn::set_linger(std::chrono::seconds how_long) const {
  std::error_code ec;
  set_linger(how_long, ec);
  check(ec, "set linger");
}

// A file that is not in memory yet is read by the kernel inside the call: that blocks the thread, and weft notices as with any other call.
std::uint64_t conn::send_file(int file, std::uint64_t offset, std::uint64_t size,
                              std::error_code& ec) const {
  io::detail::descriptor* const d = get(ec);
  if (d == nullptr) return 0;
  std::uint64_t done = 0;
  const auto call = [&](int fd) -> ssize_t {
    while (done < size) {
      auto at = static_cast<off_t>(offset + done);
      const ssize_t n =
          io::detail::send_file_quietly(fd, file, &at, std::min(size - done, kMostPerCall));
      if (n < 0) return -1;
      if (n == 0) break;
      done += static_cast<std::uint64_t>(n);
    }
    return 0;
  };
  d->write(call, ec);
  return done;
}
std::uint64_t conn::send_file(int file, std::uint64_t offset, std::uint64_t size) const {
  std::error_code ec;
  const std::uint64_t n = send_file(file, offset, size, ec);
  check(ec, "send file");
  return n;
}

}  // namespace weft::inline v1::net
