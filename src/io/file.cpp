// file.cpp: files: every call of the kernel's that may come to a disk goes on in blocking().
//
// Why not a pool of threads that do the calls: blocking() costs nothing when the bytes are in the page cache, which is the usual case.
//
// Reads from the position come one after the other, writes as well (reading, writing), so that read_full() and write_all() are not mixed with
// others'. A read and a write go on side by side, since what is no regular file may have a reader who waits for a writer.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <mutex>
#include <utility>

#include "io/quiet_write.hpp"
#include "io/use_count.hpp"
#include "os/system_call.hpp"

#include <weft/go.hpp>
#include <weft/io/file.hpp>
#include <weft/mutex.hpp>

namespace weft::inline v1::io {

namespace detail {

class file_state {
 public:
  file_state(int fd, std::string name) noexcept
      : fd_(fd), is_regular_(is_regular(fd)), name_(std::move(name)) {}
  ~file_state() {
    std::error_code ignored;
    close(ignored);  // nobody else knows it any more
  }
  file_state(const file_state&) = delete;
  file_state& operator=(const file_state&) = delete;

  void close(std::error_code& ec) noexcept {
    ec.clear();
    if (!users_.enter()) {
      ec = errc::closed;
      return;
    }
    const bool is_first = users_.shut();
    if (!is_first) ec = errc::closed;
    if (users_.leave()) ec = close_number();
  }
  bool is_open() const noexcept { return !users_.is_shut(); }
  int native_handle() const noexcept { return is_open() ? fd_ : -1; }
  const std::string& name() const noexcept { return name_; }

  // Whoever reads from a pipe that was opened as a file may have gone. Else the signal need not be kept away, at two system calls each time.
  ssize_t write_once(int fd, const void* from, std::size_t size) const noexcept {
    if (!is_regular_) return write_quietly(fd, from, size);
    return os::transfer(os::site::file_write, size,
                        [&](std::size_t most) { return ::write(fd, from, most); });
  }

  // call(fd) in blocking(), counted in. T(-1): errno tells why, or it is closed.
  template <class Call>
  auto run(Call call, std::error_code& ec) {
    using result = decltype(call(0));
    ec.clear();
    const scoped_use in(*this, ec);
    if (!in) return result(-1);
    return attempt(call, ec);
  }
  // The same, one after the other.
  template <class Call>
  auto run_in_turn(mutex& turn, Call call, std::error_code& ec) {
    using result = decltype(call(0));
    ec.clear();
    const scoped_use in(*this, ec);
    if (!in) return result(-1);
    const std::lock_guard mine(turn);
    if (is_open()) return attempt(call, ec);
    ec = errc::closed;  // while we waited for our turn
    return result(-1);
  }

  mutex reading;
  mutex writing;

 private:
  friend scoped_use<file_state>;

  static bool is_regular(int fd) noexcept {
    struct stat info{};
    return blocking([&] { return os::call(os::site::file_kind, ::fstat, fd, &info); }) == 0 &&
           S_ISREG(info.st_mode);
  }
  template <class Call>
  auto attempt(Call call, std::error_code& ec) {
    const auto r = blocking([&] { return call(fd_); });
    if (r == decltype(r)(-1)) ec = {errno, std::system_category()};
    return r;
  }
  std::error_code close_number() noexcept {
    // Never again, whatever it says: on Linux the number is free even after EINTR.
    if (blocking([this] { return os::answer(os::site::file_close, ::close(fd_)); }) == 0 ||
        errno == EINTR)
      return {};
    return {errno, std::system_category()};
  }

  const int fd_;
  const bool is_regular_;
  const std::string name_;
  use_count users_;
};

}  // namespace detail

namespace {

using detail::file_state;

// A single call moves no more than this anyway.
constexpr std::size_t kMostPerCall = std::size_t{1} << 30;
constexpr std::size_t kFirstRead = 4096;

bool has(open_mode mode, open_mode all) noexcept { return (mode & all) == all; }

// -1: makes no sense.
int flags_of(open_mode mode) noexcept {
  const bool reads = has(mode, open_mode::read);
  const bool writes = has(mode, open_mode::write);
  if (!reads && !writes) return -1;
  int flags = O_CLOEXEC | (reads && writes ? O_RDWR : writes ? O_WRONLY : O_RDONLY);
  if (has(mode, open_mode::append)) flags |= O_APPEND;
  if (has(mode, open_mode::create)) flags |= O_CREAT;
  if (has(mode, open_mode::truncate)) flags |= O_TRUNC;
  if (has(mode, open_mode::exclusive)) flags |= O_EXCL;
  const bool is_sensible = (writes || (flags & (O_CREAT | O_TRUNC)) == 0) &&
                           ((flags & O_EXCL) == 0 || (flags & O_CREAT) != 0);
  return is_sensible ? flags : -1;
}

template <class Call>
ssize_t until_not_interrupted(Call call) noexcept {
  for (;;) {
    const ssize_t n = call();
    if (n != -1 || errno != EINTR) return n;
  }
}

ssize_t read_once(int fd, void* into, std::size_t size) noexcept {
  return until_not_interrupted([&] {
    return os::transfer(os::site::file_read, std::min(size, kMostPerCall),
                        [&](std::size_t most) { return ::read(fd, into, most); });
  });
}
ssize_t write_once(const file_state& f, int fd, const void* from, std::size_t size) noexcept {
  return until_not_interrupted(
      [&] { return f.write_once(fd, from, std::min(size, kMostPerCall)); });
}

// A write that writes nothing and says nothing would go on for ever, or end as if all had been written.
ssize_t unless_stuck(ssize_t nwritten) noexcept {
  if (nwritten != 0) return nwritten;
  errno = EIO;
  return -1;
}

// step(done): moves some of the bytes after the first `done`; 0: there are no more (to be read). How many were moved is in done also after an
// error.
template <class Step>
ssize_t move_all(std::size_t size, std::size_t& done, Step step) noexcept {
  while (done < size) {
    const ssize_t n = until_not_interrupted([&] { return step(done); });
    if (n == -1) return -1;
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

bool is_offset(std::uint64_t offset, std::size_t size, std::error_code& ec) noexcept {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (offset <= kMost && size <= kMost - offset) return true;
  ec = std::make_error_code(std::errc::invalid_argument);
  return false;
}

[[noreturn]] void throw_error(const std::error_code& ec, std::string_view operation,
                              const std::string& name) {
  std::string what(operation);
  if (!name.empty()) what.append(" ").append(name);
  throw std::system_error(ec, what);
}

file_state* get(const std::shared_ptr<file_state>& impl, std::error_code& ec) noexcept {
  ec.clear();
  if (impl == nullptr) ec = errc::closed;
  return impl.get();
}

std::error_code no_deadlines() noexcept {
  return std::make_error_code(std::errc::operation_not_supported);
}

}  // namespace

// operation(ec), and a throw if it says something.
template <class Operation>
auto file::checked(std::string_view name, Operation operation) const {
  std::error_code ec;
  const auto r = operation(ec);
  if (ec) throw_error(ec, name, impl_ != nullptr ? impl_->name() : std::string());
  return r;
}

// --- opening and closing ---

file::file(int fd, std::string name)
    : impl_(std::make_shared<file_state>(
          fd, name.empty() ? "fd " + std::to_string(fd) : std::move(name))) {}

file file::open(const std::string& path, open_mode mode, unsigned permissions,
                std::error_code& ec) {
  ec.clear();
  const int flags = flags_of(mode);
  if (flags == -1 || path.find('\0') != std::string::npos) {
    ec = std::make_error_code(std::errc::invalid_argument);
    return {};
  }
  std::string name = path;  // before there is something to be closed
  const int fd = blocking([&] {
    return static_cast<int>(until_not_interrupted([&] {
      return os::call(os::site::file_open, ::open, path.c_str(), flags,
                      static_cast<mode_t>(permissions));
    }));
  });
  if (fd == -1) {
    ec = {errno, std::system_category()};
    return {};
  }
  try {
    return file(fd, std::move(name));
  } catch (...) {
    ::close(fd);
    throw;
  }
}

file file::open(const std::string& path, open_mode mode, std::error_code& ec) {
  return open(path, mode, kDefaultPermissions, ec);
}

file file::open(const std::string& path, open_mode mode, unsigned permissions) {
  std::error_code ec;
  file f = open(path, mode, permissions, ec);
  if (ec) throw_error(ec, "open", path);
  return f;
}

void file::close(std::error_code& ec) const noexcept {
  if (file_state* const f = get(impl_, ec)) f->close(ec);
}
void file::close() const noexcept {
  std::error_code ignored;
  close(ignored);
}
bool file::is_open() const noexcept { return impl_ != nullptr && impl_->is_open(); }
int file::native_handle() const noexcept { return impl_ != nullptr ? impl_->native_handle() : -1; }

// --- reading ---

std::size_t file::read_some(mutable_buffer into, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return 0;
  const ssize_t n = f->run_in_turn(
      f->reading, [&](int fd) { return read_once(fd, into.data(), into.size()); }, ec);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

std::size_t file::read_full(mutable_buffer into, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return 0;
  std::size_t done = 0;
  f->run_in_turn(
      f->reading,
      [&](int fd) {
        return move_all(into.size(), done, [&](std::size_t from) {
          return read_once(fd, static_cast<char*>(into.data()) + from, into.size() - from);
        });
      },
      ec);
  if (!ec && done < into.size()) ec = errc::unexpected_eof;
  return done;
}

std::size_t file::read_at(std::uint64_t offset, mutable_buffer into, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr || !is_offset(offset, into.size(), ec)) return 0;
  std::size_t done = 0;
  f->run(
      [&](int fd) {
        return move_all(into.size(), done, [&](std::size_t from) {
          return os::transfer(os::site::file_read_at, std::min(into.size() - from, kMostPerCall),
                              [&](std::size_t most) {
                                return ::pread(fd, static_cast<char*>(into.data()) + from, most,
                                               static_cast<off_t>(offset + from));
                              });
        });
      },
      ec);
  return done;
}

std::string file::read_all(std::error_code& ec) const {
  std::string all;
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return all;
  std::size_t done = 0;
  f->run_in_turn(
      f->reading,
      [&](int fd) -> ssize_t {
        // One byte more than there should be: then the second read finds the end, and nothing is moved.
        struct stat info{};
        if (os::call(os::site::file_size, ::fstat, fd, &info) == 0 && info.st_size > 0)
          all.resize(static_cast<std::size_t>(info.st_size) + 1);
        for (;;) {
          if (done == all.size()) all.resize(std::max(kFirstRead, all.size() * 2));
          const ssize_t n = read_once(fd, all.data() + done, all.size() - done);
          if (n <= 0) return n;
          done += static_cast<std::size_t>(n);
        }
      },
      ec);
  all.resize(done);
  return all;
}

// --- writing ---

std::size_t file::write_some(const_buffer from, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return 0;
  const ssize_t n = f->run_in_turn(
      f->writing, [&](int fd) { return write_once(*f, fd, from.data(), from.size()); }, ec);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

std::size_t file::write_all(const_buffer from, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return 0;
  std::size_t done = 0;
  f->run_in_turn(
      f->writing,
      [&](int fd) {
        return move_all(from.size(), done, [&](std::size_t n) {
          return unless_stuck(
              write_once(*f, fd, static_cast<const char*>(from.data()) + n, from.size() - n));
        });
      },
      ec);
  return done;
}

std::size_t file::write_at(std::uint64_t offset, const_buffer from, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr || !is_offset(offset, from.size(), ec)) return 0;
  std::size_t done = 0;
  f->run(
      [&](int fd) -> ssize_t {
        const int flags = os::call(os::site::file_flags, ::fcntl, fd, F_GETFL);
        if (flags == -1) return -1;
        // The kernel would write to the end all the same.
        if ((flags & O_APPEND) != 0) {
          errno = EINVAL;
          return -1;
        }
        return move_all(from.size(), done, [&](std::size_t n) {
          return unless_stuck(
              os::transfer(os::site::file_write_at, std::min(from.size() - n, kMostPerCall),
                           [&](std::size_t most) {
                             return ::pwrite(fd, static_cast<const char*>(from.data()) + n, most,
                                             static_cast<off_t>(offset + n));
                           }));
        });
      },
      ec);
  return done;
}

// --- the rest ---

std::uint64_t file::seek(std::int64_t offset, seek_from from, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return 0;
  const int whence = from == seek_from::begin     ? SEEK_SET
                     : from == seek_from::current ? SEEK_CUR
                                                  : SEEK_END;
  const off_t now = f->run(
      [&](int fd) { return os::call(os::site::file_seek, ::lseek, fd, offset, whence); }, ec);
  return now >= 0 ? static_cast<std::uint64_t>(now) : 0;
}

std::uint64_t file::size(std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return 0;
  struct stat info{};
  f->run([&](int fd) { return os::call(os::site::file_size, ::fstat, fd, &info); }, ec);
  return static_cast<std::uint64_t>(info.st_size);
}

void file::truncate(std::uint64_t size, std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr || !is_offset(size, 0, ec)) return;
  f->run(
      [&](int fd) {
        return until_not_interrupted([&] {
          return os::call(os::site::file_truncate, ::ftruncate, fd, static_cast<off_t>(size));
        });
      },
      ec);
}

void file::sync(std::error_code& ec) const {
  file_state* const f = get(impl_, ec);
  if (f == nullptr) return;
  f->run(
      [&](int fd) {
        return until_not_interrupted([&] { return os::call(os::site::file_sync, ::fsync, fd); });
      },
      ec);
}

void file::set_deadline(time_point, std::error_code& ec) const noexcept { ec = no_deadlines(); }
void file::set_read_deadline(time_point, std::error_code& ec) const noexcept {
  ec = no_deadlines();
}
void file::set_write_deadline(time_point, std::error_code& ec) const noexcept {
  ec = no_deadlines();
}

// --- the forms that throw ---

std::size_t file::read_some(mutable_buffer into) const {
  return checked("read", [&](std::error_code& ec) { return read_some(into, ec); });
}
void file::read_full(mutable_buffer into) const {
  checked("read", [&](std::error_code& ec) { return read_full(into, ec); });
}
std::size_t file::read_at(std::uint64_t offset, mutable_buffer into) const {
  return checked("read", [&](std::error_code& ec) { return read_at(offset, into, ec); });
}
std::string file::read_all() const {
  return checked("read", [&](std::error_code& ec) { return read_all(ec); });
}
std::size_t file::write_some(const_buffer from) const {
  return checked("write", [&](std::error_code& ec) { return write_some(from, ec); });
}
void file::write_all(const_buffer from) const {
  checked("write", [&](std::error_code& ec) { return write_all(from, ec); });
}
void file::write_at(std::uint64_t offset, const_buffer from) const {
  checked("write", [&](std::error_code& ec) { return write_at(offset, from, ec); });
}
std::uint64_t file::seek(std::int64_t offset, seek_from from) const {
  return checked("seek", [&](std::error_code& ec) { return seek(offset, from, ec); });
}
std::uint64_t file::size() const {
  return checked("stat", [&](std::error_code& ec) { return size(ec); });
}
void file::truncate(std::uint64_t size) const {
  checked("truncate", [&](std::error_code& ec) { return truncate(size, ec), 0; });
}
void file::sync() const {
  checked("sync", [&](std::error_code& ec) { return sync(ec), 0; });
}
void file::set_deadline(time_point when) const {
  checked("set deadline", [&](std::error_code& ec) { return set_deadline(when, ec), 0; });
}
void file::set_read_deadline(time_point when) const {
  checked("set read deadline", [&](std::error_code& ec) { return set_read_deadline(when, ec), 0; });
}
void file::set_write_deadline(time_point when) const {
  checked("set write deadline",
          [&](std::error_code& ec) { return set_write_deadline(when, ec), 0; });
}

// --- whole files ---

std::string read_file(const std::string& path, std::error_code& ec) {
  const file f = file::open(path, open_mode::read, ec);
  return ec ? std::string() : f.read_all(ec);
}

std::string read_file(const std::string& path) {
  return file::open(path, open_mode::read).read_all();
}

void write_file(const std::string& path, const_buffer bytes, unsigned permissions,
                std::error_code& ec) {
  constexpr open_mode kAnew = open_mode::write | open_mode::create | open_mode::truncate;
  const file f = file::open(path, kAnew, permissions, ec);
  if (ec) return;
  f.write_all(bytes, ec);
  if (!ec) f.close(ec);
}

void write_file(const std::string& path, const_buffer bytes, unsigned permissions) {
  std::error_code ec;
  write_file(path, bytes, permissions, ec);
  if (ec) throw_error(ec, "write", path);
}

}  // namespace weft::inline v1::io
