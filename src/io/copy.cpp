// copy.cpp: from one stream to another.
//
// splice() moves what is in a socket to a pipe and from a pipe to a socket, by passing pages on. Between two sockets a pipe of our own stands:
// it is filled as far as there is something to read, and then emptied whole, so it is empty whenever `from` is asked, and EAGAIN then
// means that there is nothing to read. What the kernel cannot splice goes through memory, and so do packets:
// some kernels would send one as several.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "io/descriptor.hpp"
#include "io/owned_fd.hpp"
#include "io/quiet_write.hpp"
#include "os/system_call.hpp"

#include <weft/io/copy.hpp>

namespace weft::inline v1::io {

namespace detail {

class copying {
 public:
  copying(const stream& to, const stream& from, std::uint64_t at_most) noexcept
      : to_(to), from_(from), left_(at_most) {}

  void run(std::error_code& ec) {
    to_d_ = to_.get(ec);
    if (to_d_ == nullptr) return;
    is_reading_ = true;
    from_d_ = from_.get(ec);
    if (from_d_ == nullptr || left_ == 0) return;
    if (!from_d_->is_packet() && !to_d_->is_packet() && open_pipe() && splice_all(ec)) return;
    if (!ec) copy_rest(ec);
  }

  std::uint64_t done() const noexcept { return done_; }
  void check(const std::error_code& ec) const {
    if (is_reading_) {
      from_.check(ec, "read");
    } else {
      to_.check(ec, "write");
    }
  }

 private:
  static constexpr std::size_t kPipeSize = std::size_t{256} << 10;
  static constexpr std::size_t kBufferSize = std::size_t{64} << 10;  // no packet is larger

  std::size_t next(std::size_t most) const noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(left_, most));
  }

  void count(std::size_t n) noexcept {
    done_ += n;
    left_ -= n;
  }

  bool open_pipe() noexcept {
    int ends[2];
    if (os::call(os::site::copy_pipe, ::pipe2, ends, O_NONBLOCK | O_CLOEXEC) != 0) return false;
    out_.reset(ends[0]);
    in_.reset(ends[1]);
    os::call(os::site::copy_pipe_size, ::fcntl, in_.get(), F_SETPIPE_SZ,
             kPipeSize);  // else it is smaller: that is slower only
    return true;
  }

  // False: the kernel cannot do that with these two, or there is an error.
  bool splice_all(std::error_code& ec) {
    while (left_ != 0) {
      is_reading_ = true;
      const ssize_t n = from_d_->read(
          [&](int fd) {
            return os::transfer(os::site::copy_in, next(kPipeSize), [&](std::size_t most) {
              return ::splice(fd, nullptr, in_.get(), nullptr, most,
                              SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
            });
          },
          ec);
      if (ec == std::errc::invalid_argument) ec.clear();  // through memory, then
      if (n < 0) return false;
      if (n == 0) return true;
      n_in_pipe_ = static_cast<std::size_t>(n);
      is_reading_ = false;
      empty_pipe(ec);
      if (ec == std::errc::invalid_argument) ec.clear();
      if (n_in_pipe_ != 0) return false;  // it is read and written by copy_rest()
    }
    return true;
  }

  // In one turn of the writers'.
  void empty_pipe(std::error_code& ec) {
    to_d_->write(
        [&](int fd) -> ssize_t {
          while (n_in_pipe_ != 0) {
            const ssize_t n = splice_quietly(out_.get(), fd, n_in_pipe_);
            if (n < 0) return -1;
            n_in_pipe_ -= static_cast<std::size_t>(n);
            count(static_cast<std::size_t>(n));
          }
          return 0;
        },
        ec);
  }

  // It is not empty: so there is nothing to wait for.
  std::size_t take_from_pipe(char* room, std::error_code& ec) {
    for (;;) {
      const ssize_t n =
          os::transfer(os::site::copy_rest, std::min(n_in_pipe_, kBufferSize),
                       [&](std::size_t most) { return ::read(out_.get(), room, most); });
      if (n == -1 && errno == EINTR) continue;
      if (n == -1) ec = system_error(errno);
      if (n <= 0) return 0;
      n_in_pipe_ -= static_cast<std::size_t>(n);
      return static_cast<std::size_t>(n);
    }
  }

  // What is in the pipe already, and then the rest.
  void copy_rest(std::error_code& ec) {
    const auto room = std::make_unique_for_overwrite<char[]>(kBufferSize);
    while (left_ != 0) {
      std::size_t n;
      if (n_in_pipe_ != 0) {
        n = take_from_pipe(room.get(), ec);
      } else {
        is_reading_ = true;
        n = from_.read_some({room.get(), next(kBufferSize)}, ec);
      }
      if (ec || n == 0) return;
      is_reading_ = false;
      count(to_.write_all({room.get(), n}, ec));
      if (ec) return;
    }
  }

  const stream& to_;
  const stream& from_;
  descriptor* to_d_ = nullptr;
  descriptor* from_d_ = nullptr;
  std::uint64_t left_;
  std::uint64_t done_ = 0;
  bool is_reading_ = false;  // which side an error is of
  owned_fd in_;
  owned_fd out_;
  std::size_t n_in_pipe_ = 0;
};

}  // namespace detail

std::uint64_t copy(const stream& to, const stream& from, std::uint64_t at_most,
                   std::error_code& ec) {
  detail::copying it(to, from, at_most);
  it.run(ec);
  return it.done();
}

std::uint64_t copy(const stream& to, const stream& from, std::error_code& ec) {
  return copy(to, from, everything, ec);
}

std::uint64_t copy(const stream& to, const stream& from, std::uint64_t at_most) {
  std::error_code ec;
  detail::copying it(to, from, at_most);
  it.run(ec);
  if (ec) it.check(ec);
  return it.done();
}

}  // namespace weft::inline v1::io
