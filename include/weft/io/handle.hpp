// handle.hpp: what everything that stands for a descriptor of the kernel's has in common: deadlines and closing.
//
// A handle is like a channel: copies are the same thing, and the last one closes it. Everything may be called from any goroutine or thread at
// any time.
//
// Errors as in <filesystem>: without a std::error_code as the last argument they are thrown as std::system_error, whose what() names the
// operation and the ends ("read tcp 127.0.0.1:4711->127.0.0.1:80: i/o timeout"); with one they are put there, and it is cleared else.
#pragma once

#include <memory>
#include <string_view>
#include <system_error>

#include <weft/clock.hpp>
#include <weft/detail/config.hpp>
#include <weft/io/error.hpp>

namespace weft::inline v1::io {

namespace detail {
class descriptor;
}

// No deadline: waits may last for ever.
inline constexpr time_point no_deadline = time_point::max();

class WEFT_API handle {
 public:
  // From that moment on reads (and accepts), writes, or both, fail with errc::deadline_exceeded, those that wait already as well. no_deadline:
  // never. Nothing else changes, and another deadline may follow: bytes that a read has not returned are there for the next one.
  void set_deadline(time_point when) const;
  void set_read_deadline(time_point when) const;
  void set_write_deadline(time_point when) const;
  void set_deadline(time_point when, std::error_code& ec) const noexcept;
  void set_read_deadline(time_point when, std::error_code& ec) const noexcept;
  void set_write_deadline(time_point when, std::error_code& ec) const noexcept;

  // Whoever waits for it is woken (a plain thread within 10 ms), and fails with errc::closed, as does every later call. What was written is still sent. Closing again does
  // nothing; the form with an error_code says errc::closed then.
  void close() const noexcept;
  void close(std::error_code& ec) const noexcept;
  [[nodiscard]] bool is_open() const noexcept;
  explicit operator bool() const noexcept { return is_open(); }

  // The kernel's number, for setsockopt() and the like; -1: closed. It must neither be closed nor kept.
  [[nodiscard]] int native_handle() const noexcept;

  friend bool operator==(const handle&, const handle&) noexcept = default;

 protected:
  // One that is closed.
  handle() noexcept = default;
  explicit handle(std::shared_ptr<detail::descriptor> d) noexcept;

  // Throws if there is an error. about: with whom, "" if the descriptor's own name says it.
  void check(const std::error_code& ec, std::string_view operation,
             std::string_view about = {}) const;
  // The descriptor, or null with errc::closed in ec.
  detail::descriptor* get(std::error_code& ec) const noexcept;

  std::shared_ptr<detail::descriptor> impl_;
};

}  // namespace weft::inline v1::io
