// stream.cpp: reading and writing on a descriptor.
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <vector>

#include "io/descriptor.hpp"
#include "io/quiet_write.hpp"
#include "os/system_call.hpp"

#include <weft/io/stream.hpp>

namespace weft::inline v1::io {

namespace {

using detail::descriptor;

// A single call moves no more than this anyway.
constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
constexpr std::size_t kMostPieces = 64;

std::size_t read_once(descriptor* d, mutable_buffer into, std::error_code& ec) {
  if (d == nullptr) return 0;
  const std::size_t n = std::min(into.size(), kMostPerCall);
  if (n == 0 &&
      !d->is_packet()) {  // also where there is nothing to read; but not when it is closed
    d->control([](int) { return 0; }, ec);
    return 0;
  }
  // recv() takes a datagram also where there is no room for it; read() of nothing does nothing.
  const ssize_t got = d->read_bytes(
      n,
      [&](int fd) {
        return d->is_socket()
                   ? os::transfer(
                         os::site::stream_recv, n,
                         [&](std::size_t most) { return ::recv(fd, into.data(), most, 0); })
                   : os::transfer(os::site::stream_read, n,
                                  [&](std::size_t most) { return ::read(fd, into.data(), most); });
      },
      ec);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

ssize_t write_piece(const descriptor& d, int fd, const void* from, std::size_t n) noexcept {
  if (!d.is_socket()) return detail::write_quietly(fd, from, n);
  return os::transfer(os::site::stream_send, n,
                      [&](std::size_t most) { return ::send(fd, from, most, MSG_NOSIGNAL); });
}

std::size_t write_once(descriptor* d, const_buffer from, std::error_code& ec) {
  if (d == nullptr) return 0;
  const std::size_t n = std::min(from.size(), kMostPerCall);
  if (n == 0 && !d->is_packet()) {
    d->control([](int) { return 0; }, ec);
    return 0;
  }
  const ssize_t put = d->write([&](int fd) { return write_piece(*d, fd, from.data(), n); }, ec);
  return put > 0 ? static_cast<std::size_t>(put) : 0;
}

// One turn for all of it: the call says EAGAIN until nothing is left. Not for packets.
std::size_t write_whole(descriptor& d, const_buffer from, std::error_code& ec) {
  const char* const begin = static_cast<const char*>(from.data());
  std::size_t done = 0;
  d.write(
      [&](int fd) -> ssize_t {
        while (done < from.size()) {
          const ssize_t n =
              write_piece(d, fd, begin + done, std::min(from.size() - done, kMostPerCall));
          if (n < 0) return -1;
          done += static_cast<std::size_t>(n);
        }
        return 0;
      },
      ec);
  return done;
}

// What of the pieces has not been written, as the kernel wants it.
class remaining {
 public:
  explicit remaining(std::span<const const_buffer> pieces) noexcept : pieces_(pieces) { fill(); }

  bool is_empty() const noexcept { return n_ == 0; }
  const iovec* data() const noexcept { return parts_.data(); }
  int size() const noexcept { return static_cast<int>(n_); }

  void advance(std::size_t written) noexcept {
    while (first_ < pieces_.size() && written >= pieces_[first_].size() - offset_) {
      written -= pieces_[first_].size() - offset_;
      ++first_;
      offset_ = 0;
    }
    offset_ += written;
    fill();
  }

 private:
  void fill() noexcept {
    n_ = 0;
    std::size_t skipped = offset_;
    std::size_t total = 0;
    for (std::size_t i = first_; i < pieces_.size() && n_ < kMostPieces && total < kMostPerCall;
         ++i) {
      const std::size_t size = std::min(pieces_[i].size() - skipped, kMostPerCall - total);
      const char* const begin = static_cast<const char*>(pieces_[i].data()) + skipped;
      skipped = 0;
      if (size == 0) continue;
      parts_[n_++] = {const_cast<char*>(begin), size};
      total += size;
    }
  }

  std::span<const const_buffer> pieces_;
  std::size_t first_ = 0;
  std::size_t offset_ = 0;
  std::array<iovec, kMostPieces> parts_;
  std::size_t n_ = 0;
};

ssize_t write_parts(const descriptor& d, int fd, const remaining& rest) noexcept {
  if (!d.is_socket()) return detail::write_quietly(fd, rest.data(), rest.size());
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(rest.data());
  return os::transfer(os::site::stream_send_parts, static_cast<std::size_t>(rest.size()),
                      [&](std::size_t most) {
                        message.msg_iovlen = most;
                        return ::sendmsg(fd, &message, MSG_NOSIGNAL);
                      });
}

// In several calls they would be several datagrams.
std::vector<char> joined(std::span<const const_buffer> pieces) {
  std::vector<char> whole;
  for (const const_buffer& each : pieces) {
    const char* const begin = static_cast<const char*>(each.data());
    whole.insert(whole.end(), begin, begin + each.size());
  }
  return whole;
}

}  // namespace

std::size_t stream::read_some(mutable_buffer into, std::error_code& ec) const {
  return read_once(get(ec), into, ec);
}

std::size_t stream::read_some(mutable_buffer into) const {
  std::error_code ec;
  const std::size_t n = read_once(get(ec), into, ec);
  check(ec, "read");
  return n;
}

std::size_t stream::read_full(mutable_buffer into, std::error_code& ec) const {
  ec.clear();
  std::size_t done = 0;
  while (done < into.size()) {
    const mutable_buffer rest(static_cast<char*>(into.data()) + done, into.size() - done);
    const std::size_t n = read_once(get(ec), rest, ec);
    if (ec) return done;
    if (n == 0) {
      ec = errc::unexpected_eof;
      return done;
    }
    done += n;
  }
  return done;
}

void stream::read_full(mutable_buffer into) const {
  std::error_code ec;
  read_full(into, ec);
  check(ec, "read");
}

std::size_t stream::write_some(const_buffer from, std::error_code& ec) const {
  return write_once(get(ec), from, ec);
}

std::size_t stream::write_some(const_buffer from) const {
  std::error_code ec;
  const std::size_t n = write_once(get(ec), from, ec);
  check(ec, "write");
  return n;
}

std::size_t stream::write_some(std::span<const const_buffer> pieces, std::error_code& ec) const {
  descriptor* const d = get(ec);
  if (d == nullptr) return 0;
  if (d->is_packet() && pieces.size() > kMostPieces) return write_once(d, joined(pieces), ec);
  const remaining all(pieces);
  if (all.is_empty()) return write_once(d, {}, ec);
  const ssize_t n = d->write([&](int fd) { return write_parts(*d, fd, all); }, ec);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

std::size_t stream::write_some(std::span<const const_buffer> pieces) const {
  std::error_code ec;
  const std::size_t n = write_some(pieces, ec);
  check(ec, "write");
  return n;
}

std::size_t stream::write_all(std::span<const const_buffer> pieces, std::error_code& ec) const {
  descriptor* const d = get(ec);
  if (d == nullptr) return 0;
  if (d->is_packet()) return write_some(pieces, ec);  // one datagram, also an empty one
  std::size_t done = 0;
  remaining rest(pieces);
  d->write(  // as in write_whole
      [&](int fd) -> ssize_t {
        while (!rest.is_empty()) {
          const ssize_t n = write_parts(*d, fd, rest);
          if (n < 0) return -1;
          done += static_cast<std::size_t>(n);
          rest.advance(static_cast<std::size_t>(n));
        }
        return 0;
      },
      ec);
  return done;
}

void stream::write_all(std::span<const const_buffer> pieces) const {
  std::error_code ec;
  write_all(pieces, ec);
  check(ec, "write");
}

std::size_t stream::write_all(const_buffer from, std::error_code& ec) const {
  descriptor* const d = get(ec);
  if (d == nullptr) return 0;
  return d->is_packet() ? write_once(d, from, ec) : write_whole(*d, from, ec);
}

void stream::write_all(const_buffer from) const {
  std::error_code ec;
  write_all(from, ec);
  check(ec, "write");
}

}  // namespace weft::inline v1::io
