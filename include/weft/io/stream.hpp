// stream.hpp: reading and writing bytes, waiting, deadlines, closing: what connections, pipes and other descriptors have in common.
//
//   std::array<char, 4096> room;
//   while (std::size_t n = c.read_some(room)) c.write_all({room.data(), n});     // until the other side has closed
//   c.set_read_deadline(weft::clock::now() + 5s);                                // then reads fail with "i/o timeout"
//
// A stream is a handle (<weft/io/handle.hpp>), for any goroutine at any time: reads come one after the other, and so do writes; a read and a
// write go on side by side.
//
// Blocks: this goroutine only (from a plain thread: that thread). Async-signal-safe: no.
#pragma once

#include <cstddef>
#include <span>
#include <system_error>

#include <weft/detail/config.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/foreign_buffers.hpp>
#include <weft/io/handle.hpp>

namespace weft::inline v1::io {

namespace detail {
class copying;
}

class WEFT_API stream : public handle, public foreign_buffers<stream> {
 public:
  // One that is closed.
  stream() noexcept = default;

  // Reads what is there, at least one byte, and at most into.size(); waits until there is something. 0: the other side has closed its end, or
  // into is empty.
  WEFT_MAY_SWITCH std::size_t read_some(mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_some(mutable_buffer into, std::error_code& ec) const;

  // Fills `into` whole. The end of the stream before that: errc::unexpected_eof. The form with an error_code says how much was read.
  WEFT_MAY_SWITCH void read_full(mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_full(mutable_buffer into, std::error_code& ec) const;

  // Writes what there is room for, at least one byte, unless from is empty; waits until there is some.
  WEFT_MAY_SWITCH std::size_t write_some(const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_some(const_buffer from, std::error_code& ec) const;

  // What there is room for of all of them, in this order, with one system call.
  WEFT_MAY_SWITCH std::size_t write_some(std::span<const const_buffer> pieces) const;
  WEFT_MAY_SWITCH std::size_t write_some(std::span<const const_buffer> pieces,
                                         std::error_code& ec) const;

  // Writes all of it; no other write comes in between. The form with an error_code says how much was written.
  WEFT_MAY_SWITCH void write_all(const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_all(const_buffer from, std::error_code& ec) const;
  // All of them, in this order, with as few system calls as possible.
  WEFT_MAY_SWITCH void write_all(std::span<const const_buffer> pieces) const;
  WEFT_MAY_SWITCH std::size_t write_all(std::span<const const_buffer> pieces,
                                        std::error_code& ec) const;

  // The same for the buffers and error codes of other libraries.
  using foreign_buffers<stream>::read_some;
  using foreign_buffers<stream>::write_some;

 protected:
  using handle::handle;

 private:
  friend class detail::copying;
};

}  // namespace weft::inline v1::io
