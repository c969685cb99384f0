// line_reader.cpp: see line_reader.hpp.
#include "os/line_reader.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/system_call.hpp"

namespace weft::os {

raw_file::raw_file(const char* path, int extra_flags) noexcept {
  do {
    fd_ = static_cast<int>(call(site::proc_open, ::syscall, SYS_openat, AT_FDCWD, path,
                                O_RDONLY | O_CLOEXEC | extra_flags, 0));
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) error_ = errno;
}

raw_file::~raw_file() {
  if (fd_ >= 0)
    ::syscall(SYS_close, fd_);  // never repeated: Linux has let go of the number even after EINTR
}

std::ptrdiff_t raw_file::read(std::span<char> into) noexcept {
  std::ptrdiff_t n;
  do {
    n = transfer(site::proc_read, into.size(),
                 [&](std::size_t most) { return ::syscall(SYS_read, fd_, into.data(), most); });
  } while (n < 0 && errno == EINTR);
  if (n < 0) error_ = errno;
  return n;
}

std::optional<std::string_view> read_small_file(const char* path, std::span<char> buffer) noexcept {
  raw_file file(path);
  if (!file.is_open()) return std::nullopt;
  std::size_t size = 0;
  while (size < buffer.size()) {
    const std::ptrdiff_t n = file.read(buffer.subspan(size));
    if (n < 0) return std::nullopt;
    if (n == 0) return std::string_view(buffer.data(), size);
    size += static_cast<std::size_t>(n);
  }
  return std::nullopt;
}

bool line_reader::next(std::string_view& line) noexcept {
  for (;;) {
    if (take_line(line)) {
      if (!is_skipping_) return true;
      is_skipping_ = false;  // that was the tail of the long line
      continue;
    }
    if (is_at_end_) return false;
    refill();
  }
}

// Takes a line that is complete in the buffer; at the end of the file the last one needs no newline.
bool line_reader::take_line(std::string_view& line) noexcept {
  const char* const first = buffer_.data() + begin_;
  const std::size_t left = end_ - begin_;
  if (const void* newline = left > 0 ? std::memchr(first, '\n', left) : nullptr) {
    line = {first, static_cast<std::size_t>(static_cast<const char*>(newline) - first)};
    begin_ += line.size() + 1;
    return true;
  }
  if (!is_at_end_ || left == 0) return false;
  line = {first, left};
  begin_ = end_;
  return true;
}

void line_reader::refill() noexcept {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {  // full, and no newline in it
    if (!is_skipping_) ++nskipped_;
    is_skipping_ = true;
    end_ = 0;
  }
  const std::ptrdiff_t n = file_.read(buffer_.subspan(end_));
  if (n > 0) {
    end_ += static_cast<std::size_t>(n);
  } else {
    is_at_end_ = true;
    if (n < 0) begin_ = end_ = 0;  // half a line before an error is no line
  }
}

}  // namespace weft::os
