// line_reader.hpp: reading the kernel's text files with bare system calls.
//
// Why not libc's read(): these files are read inside the runtime's bracket, where libc's wrappers may be somebody else's
// (an interposed read() that parks the goroutine, a sanitizer's with a lock) and are cancellation points. syscall() is
// neither. Interrupted calls are repeated, descriptors are close-on-exec, memory is the caller's.
//
// Errors come back as positive errno values, 0 for none.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace weft::os {

// An open descriptor, closed at the end of its scope.
class raw_file {
 public:
  explicit raw_file(const char* path,
                    int extra_flags = 0) noexcept;  // O_RDONLY | O_CLOEXEC | extra_flags
  ~raw_file();
  raw_file(const raw_file&) = delete;
  raw_file& operator=(const raw_file&) = delete;

  bool is_open() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }
  int error() const noexcept { return error_; }  // of the open, or of the last read that failed

  // What read(2) returns: the bytes read, 0 at the end, -1 with error() set.
  std::ptrdiff_t read(std::span<char> into) noexcept;

 private:
  int fd_ = -1;
  int error_ = 0;
};

// The whole of a file that is smaller than the buffer, or nothing: missing, unreadable, or too big (half a number is
// worse than none).
std::optional<std::string_view> read_small_file(const char* path, std::span<char> buffer) noexcept;

// Yields a file line by line. A line that does not fit into the buffer with its newline is skipped whole and counted: the
// next one yielded starts where a line starts.
class line_reader {
 public:
  line_reader(raw_file& file, std::span<char> buffer) noexcept : file_(file), buffer_(buffer) {}

  // Puts the next line, without its newline, into line; valid until the next call. False at the end of the file and
  // after an error, which file.error() names.
  bool next(std::string_view& line) noexcept;

  unsigned nskipped() const noexcept { return nskipped_; }

 private:
  bool take_line(std::string_view& line) noexcept;
  void refill() noexcept;

  raw_file& file_;
  std::span<char> buffer_;
  std::size_t begin_ = 0;  // the unread bytes are [begin_, end_)
  std::size_t end_ = 0;
  unsigned nskipped_ = 0;
  bool is_at_end_ = false;
  bool is_skipping_ = false;  // the buffer starts in the middle of a line that is too long
};

}  // namespace weft::os
