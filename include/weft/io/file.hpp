// file.hpp: files of the disk, and whatever else cannot be waited for.
//
//   using weft::io::open_mode;
//   auto log = weft::io::file::open("app.log", open_mode::append | open_mode::create);
//   log.write_all("started\n");
//   std::string text = weft::io::read_file("/etc/hostname");
//   weft::io::write_file("out.txt", text);
//
// The kernel has no way to wait for a disk: a read takes as long as it takes. So every call goes on in weft::blocking(): it blocks a thread,
// never a processor, and other goroutines run meanwhile. For the same reason there are no deadlines, and close() does not end a call that is
// under way: the kernel's number is closed after it. What can be waited for (pipes, terminals, devices) is better off in an async_fd.
//
// A file is a handle: copies are the same file with the same position, and the last one closes it. Everything may be called from any goroutine
// or thread at any time. Errors as in <weft/io/handle.hpp>: "open /nonexistent: No such file or directory".
//
// Blocks: this goroutine only (from a plain thread: that thread). Async-signal-safe: no.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <weft/clock.hpp>
#include <weft/detail/config.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/error.hpp>

namespace weft::inline v1::io {

namespace detail {
class file_state;
}

// May be combined: open_mode::write | open_mode::create | open_mode::truncate.
enum class open_mode : std::uint8_t {
  read = 1,
  write = 2,
  read_write = 3,
  append = 4 | 2,  // every write goes to the end, wherever that is by then
  create = 8,      // if it is not there
  truncate = 16,   // what was in it is gone
  exclusive = 32,  // with create: it must not be there
};
constexpr open_mode operator|(open_mode a, open_mode b) noexcept {
  return static_cast<open_mode>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr open_mode operator&(open_mode a, open_mode b) noexcept {
  return static_cast<open_mode>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

enum class seek_from : std::uint8_t { begin, current, end };

// Of a file that is created, as the umask allows: everybody may read and write it.
inline constexpr unsigned kDefaultPermissions = 0666;

class WEFT_API file {
 public:
  // One that is closed.
  file() noexcept = default;
  // Adopts a descriptor of the kernel's, which is expected to be blocking. name: for messages.
  explicit file(int fd, std::string name = {});

  // It is closed when a program is executed. A mode that makes no sense is std::errc::invalid_argument.
  WEFT_MAY_SWITCH static file open(const std::string& path, open_mode mode = open_mode::read,
                                   unsigned permissions = kDefaultPermissions);
  WEFT_MAY_SWITCH static file open(const std::string& path, open_mode mode, std::error_code& ec);
  WEFT_MAY_SWITCH static file open(const std::string& path, open_mode mode, unsigned permissions,
                                   std::error_code& ec);

  // From the position, which moves on. 0: the end of the file, or into is empty.
  WEFT_MAY_SWITCH std::size_t read_some(mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_some(mutable_buffer into, std::error_code& ec) const;
  // Fills `into` whole; no other read comes in between. The end before that: errc::unexpected_eof. The form with an error_code says how
  // much was read.
  WEFT_MAY_SWITCH void read_full(mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_full(mutable_buffer into, std::error_code& ec) const;
  // From there, wherever the position is, which stays. Less than into.size(): the file ends there.
  WEFT_MAY_SWITCH std::size_t read_at(std::uint64_t offset, mutable_buffer into) const;
  WEFT_MAY_SWITCH std::size_t read_at(std::uint64_t offset, mutable_buffer into,
                                      std::error_code& ec) const;
  // All that is left.
  WEFT_MAY_SWITCH std::string read_all() const;
  WEFT_MAY_SWITCH std::string read_all(std::error_code& ec) const;

  WEFT_MAY_SWITCH std::size_t write_some(const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_some(const_buffer from, std::error_code& ec) const;
  // All of it; no other write comes in between. The form with an error_code says how much was written.
  WEFT_MAY_SWITCH void write_all(const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_all(const_buffer from, std::error_code& ec) const;
  // All of it, to there; the position stays. A file that was opened to append refuses: std::errc::invalid_argument.
  WEFT_MAY_SWITCH void write_at(std::uint64_t offset, const_buffer from) const;
  WEFT_MAY_SWITCH std::size_t write_at(std::uint64_t offset, const_buffer from,
                                       std::error_code& ec) const;

  // The new position, from the beginning.
  WEFT_MAY_SWITCH std::uint64_t seek(std::int64_t offset, seek_from from = seek_from::begin) const;
  WEFT_MAY_SWITCH std::uint64_t seek(std::int64_t offset, seek_from from,
                                     std::error_code& ec) const;
  WEFT_MAY_SWITCH std::uint64_t size() const;
  WEFT_MAY_SWITCH std::uint64_t size(std::error_code& ec) const;
  // Cuts it off there, or fills it up with zeroes.
  WEFT_MAY_SWITCH void truncate(std::uint64_t size) const;
  WEFT_MAY_SWITCH void truncate(std::uint64_t size, std::error_code& ec) const;
  // Returns when it is on the disk.
  WEFT_MAY_SWITCH void sync() const;
  WEFT_MAY_SWITCH void sync(std::error_code& ec) const;

  // Refused: std::errc::operation_not_supported, whatever the time.
  void set_deadline(time_point when) const;
  void set_read_deadline(time_point when) const;
  void set_write_deadline(time_point when) const;
  void set_deadline(time_point when, std::error_code& ec) const noexcept;
  void set_read_deadline(time_point when, std::error_code& ec) const noexcept;
  void set_write_deadline(time_point when, std::error_code& ec) const noexcept;

  // Every later call fails with errc::closed; those under way go on to their ends. Closing again does nothing; the form with an error_code
  // says errc::closed then, and else what the kernel says, if nobody is in a call: some disks tell only now that a write has failed.
  WEFT_MAY_SWITCH void close() const noexcept;
  WEFT_MAY_SWITCH void close(std::error_code& ec) const noexcept;
  [[nodiscard]] bool is_open() const noexcept;
  explicit operator bool() const noexcept { return is_open(); }

  // The kernel's number; -1: closed. It must neither be closed nor kept.
  [[nodiscard]] int native_handle() const noexcept;

  friend bool operator==(const file&, const file&) noexcept = default;

 private:
  template <class Operation>
  auto checked(std::string_view name, Operation operation) const;

  std::shared_ptr<detail::file_state> impl_;
};

// The whole file.
WEFT_API WEFT_MAY_SWITCH std::string read_file(const std::string& path);
WEFT_API WEFT_MAY_SWITCH std::string read_file(const std::string& path, std::error_code& ec);

// Makes the file, or puts this in place of what was in it. After an error there may be a part of it.
WEFT_API WEFT_MAY_SWITCH void write_file(const std::string& path, const_buffer bytes,
                                         unsigned permissions = kDefaultPermissions);
WEFT_API WEFT_MAY_SWITCH void write_file(const std::string& path, const_buffer bytes,
                                         unsigned permissions, std::error_code& ec);

}  // namespace weft::inline v1::io
