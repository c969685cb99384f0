// beast.hpp: Boost.Beast on weft's streams.
//
//   weft::net::conn c = listener.accept();
//   boost::beast::flat_buffer buffer;
//   http::request<http::string_body> req;
//   http::read(c, buffer, req);                            // this goroutine waits, nobody else
//   http::write(c, answer(req));
//
// With this header a weft::io::stream, and so a weft::net::conn, and a weft::net::tls::conn as well, is a SyncReadStream and a SyncWriteStream in the
// sense of Boost.Asio: the synchronous functions of Asio and Beast take it. There is no io_context, and nothing of Asio's runs.
// The end of the stream is boost::asio::error::eof, as there; other errors keep their category. Needs Boost 1.81 or newer, headers only.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <system_error>

#include <boost/version.hpp>
#if BOOST_VERSION < 108100
#error "<weft/beast.hpp> needs Boost 1.81 or newer"
#endif

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <weft/io/buffer.hpp>
#include <weft/io/stream.hpp>

namespace weft::inline v1::io {

namespace detail {

template <class Buffers>
concept asio_mutable_buffers = boost::asio::is_mutable_buffer_sequence<Buffers>::value;
template <class Buffers>
concept asio_const_buffers = boost::asio::is_const_buffer_sequence<Buffers>::value;

// Everything of weft's that reads and writes.
template <class Stream>
concept reads_and_writes = requires(const Stream& s, mutable_buffer into,
                                    std::span<const const_buffer> pieces, std::error_code& ec) {
  { s.read_some(into, ec) } -> std::same_as<std::size_t>;
  { s.write_some(pieces, ec) } -> std::same_as<std::size_t>;
};

inline constexpr std::size_t kMostAsioPieces = 16;  // more are left for the next call

}  // namespace detail

// Into the first buffer that has room.
template <detail::asio_mutable_buffers Buffers, detail::reads_and_writes Stream>
std::size_t read_some_into(const Stream& s, const Buffers& into, boost::system::error_code& ec) {
  boost::asio::mutable_buffer first;
  const auto end = boost::asio::buffer_sequence_end(into);
  for (auto it = boost::asio::buffer_sequence_begin(into); it != end && first.size() == 0; ++it)
    first = *it;
  std::error_code why;
  const std::size_t n = s.read_some(mutable_buffer(first.data(), first.size()), why);
  ec = why;
  if (!why && n == 0 && first.size() != 0) ec = boost::asio::error::eof;
  return n;
}

template <detail::asio_const_buffers Buffers, detail::reads_and_writes Stream>
std::size_t write_some_from(const Stream& s, const Buffers& from, boost::system::error_code& ec) {
  std::array<const_buffer, detail::kMostAsioPieces> pieces;
  std::size_t n = 0;
  const auto end = boost::asio::buffer_sequence_end(from);
  for (auto it = boost::asio::buffer_sequence_begin(from); it != end && n < pieces.size(); ++it) {
    const boost::asio::const_buffer piece(*it);
    if (piece.size() != 0) pieces[n++] = const_buffer(piece.data(), piece.size());
  }
  std::error_code why;
  const std::size_t written = s.write_some(std::span<const const_buffer>(pieces.data(), n), why);
  ec = why;
  return written;
}

template <detail::asio_mutable_buffers Buffers, detail::reads_and_writes Stream>
std::size_t read_some_into(const Stream& s, const Buffers& into) {
  boost::system::error_code ec;
  const std::size_t n = read_some_into(s, into, ec);
  if (ec) throw boost::system::system_error(ec, "read");
  return n;
}

template <detail::asio_const_buffers Buffers, detail::reads_and_writes Stream>
std::size_t write_some_from(const Stream& s, const Buffers& from) {
  boost::system::error_code ec;
  const std::size_t n = write_some_from(s, from, ec);
  if (ec) throw boost::system::system_error(ec, "write");
  return n;
}

}  // namespace weft::inline v1::io
