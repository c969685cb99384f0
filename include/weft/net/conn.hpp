// conn.hpp: one end of a connection.
//
//   auto c = weft::net::dial("tcp", "example.org:80");
//   c.write_all("GET / HTTP/1.0\r\n\r\n");
//   c.shutdown();                                                     // no more from us
//   while (std::size_t n = c.read_some(room)) use(room.data(), n);    // 0: no more from them
//
// All that <weft/io/stream.hpp> promises: a handle, for any goroutine at any time, with deadlines; close() wakes whoever waits. Connections of
// datagrams ("udp", "unixgram") as well: each write is one, each read takes one (and drops what does not fit); an empty one reads as 0.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>

#include <weft/detail/config.hpp>
#include <weft/io/stream.hpp>
#include <weft/net/address.hpp>

namespace weft::inline v1 {
namespace net {

namespace detail {
struct ends;
class socket_access;
}  // namespace detail

enum class direction : std::uint8_t { read, write, both };

class WEFT_API conn : public io::stream {
 public:
  // One that is closed.
  conn() noexcept = default;

  // Empty if it is closed from the start.
  [[nodiscard]] const address& local_addr() const noexcept;
  [[nodiscard]] const address& remote_addr() const noexcept;

  // Half of it ends. write: the other side reads its end once it has read all that was written. read: reads give 0 once all is read that has come.
  void shutdown(direction what = direction::write) const;
  void shutdown(direction what, std::error_code& ec) const noexcept;

  // TCP only. Small pieces are sent at once; on from the start.
  void set_no_delay(bool on) const;
  void set_no_delay(bool on, std::error_code& ec) const noexcept;
  // TCP only. After so long without a word the other side is asked whether it is there, and again after each such time; on from the start
  // with 15 s. 0: off.
  void set_keep_alive(std::chrono::seconds idle) const;
  void set_keep_alive(std::chrono::seconds idle, std::error_code& ec) const noexcept;
  // close(): 0 drops what was not sent yet and resets the connection; negative: sends it in the background, as from the start.
  void set_linger(std::chrono::seconds how_long) const;
  void set_linger(std::chrono::seconds how_long, std::error_code& ec) const noexcept;

  // Sends `size` bytes of a file from `offset` on, without a detour through the program. Says how much: less at the end of the file.
  WEFT_MAY_SWITCH std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t size) const;
  WEFT_MAY_SWITCH std::uint64_t send_file(int file, std::uint64_t offset, std::uint64_t size,
                                          std::error_code& ec) const;

 private:
  friend class detail::socket_access;
  conn(std::shared_ptr<io::detail::descriptor> d, std::shared_ptr<const detail::ends> e) noexcept;
  std::shared_ptr<const detail::ends> ends_;
};

}  // namespace net
}  // namespace weft::inline v1
