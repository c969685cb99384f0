// pipe.hpp: a connection in memory, for tests of code that reads and writes.
//
//   auto [client, server] = weft::testing::pipe();
//   weft::go([server] { serve(server); });
//   client.write_all("ping\n");
//   client.set_read_deadline(weft::clock::now() + 5s);      // in a bubble: its clock
//
// Both ends have what <weft/io/stream.hpp> and net::conn have, with the same promises and the same errors, so that code which takes any stream
// (a template) runs on them. Nothing but goroutines takes part: in a bubble whoever waits here is durably blocked.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include <weft/clock.hpp>
#include <weft/detail/config.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/error.hpp>
#include <weft/io/foreign_buffers.hpp>
#include <weft/io/handle.hpp>
#include <weft/net/conn.hpp>

namespace weft::inline v1::testing {

namespace detail {
class pipe_state;
}

// A handle: copies are the same end, and the last one closes it. For any goroutine or thread at any time; reads come one after the other, and so do
// writes. Without a std::error_code errors are thrown as std::system_error.
// Blocks: this goroutine only (from a plain thread: that thread).
class WEFT_API pipe_end : public io::foreign_buffers<pipe_end> {
 public:
  // One that is closed.
  pipe_end() noexcept = default;

  // At least one byte; 0: the other end writes no more, or into is empty.
  WEFT_MAY_SWITCH std::size_t read_some(io::mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_some(io::mutable_buffer into, std::error_code& ec) const;
  // Fills `into` whole, or io::errc::unexpected_eof.
  WEFT_MAY_SWITCH void read_full(io::mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_full(io::mutable_buffer into, std::error_code& ec) const;

  // What there is room for, at least one byte, unless from is empty. Nobody will read it: std::errc::broken_pipe.
  WEFT_MAY_SWITCH std::size_t write_some(io::const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_some(io::const_buffer from, std::error_code& ec) const;
  // All of it; no other write comes in between.
  WEFT_MAY_SWITCH void write_all(io::const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_all(io::const_buffer from, std::error_code& ec) const;
  WEFT_MAY_SWITCH void write_all(std::span<const io::const_buffer> pieces) const;
  WEFT_MAY_SWITCH std::size_t write_all(std::span<const io::const_buffer> pieces,
                                        std::error_code& ec) const;

  using io::foreign_buffers<pipe_end>::read_some;
  using io::foreign_buffers<pipe_end>::write_some;

  // Half of it ends, as net::conn::shutdown.
  void shutdown(net::direction what = net::direction::write) const;
  void shutdown(net::direction what, std::error_code& ec) const noexcept;

  // As io::handle's. By the clock of whoever waits.
  void set_deadline(time_point when) const;
  void set_read_deadline(time_point when) const;
  void set_write_deadline(time_point when) const;
  void set_deadline(time_point when, std::error_code& ec) const noexcept;
  void set_read_deadline(time_point when, std::error_code& ec) const noexcept;
  void set_write_deadline(time_point when, std::error_code& ec) const noexcept;

  // Whoever waits here fails with io::errc::closed. What was written is still read by the other end.
  void close() const noexcept;
  void close(std::error_code& ec) const noexcept;
  [[nodiscard]] bool is_open() const noexcept;
  explicit operator bool() const noexcept { return is_open(); }

  friend bool operator==(const pipe_end& a, const pipe_end& b) noexcept {
    return a.state_ == b.state_;
  }

 private:
  friend WEFT_API std::pair<pipe_end, pipe_end> pipe(std::size_t capacity);
  std::shared_ptr<detail::pipe_state> state_;
};

// Two ends. Each direction holds up to `capacity` bytes that were written and not read; one at least.
WEFT_API std::pair<pipe_end, pipe_end> pipe(std::size_t capacity = 64 * 1024);

}  // namespace weft::inline v1::testing
