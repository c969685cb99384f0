// line_reader.cpp: a file of any content through a buffer of any size gives the lines that fit, in order, and counts the others.
//
// Input: a byte that is the buffer's size, then the content.
#include "os/line_reader.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace weft {
namespace {

using fuzz::promise;

struct lines {
  std::vector<std::string> fit;
  unsigned nskipped = 0;
  bool operator==(const lines&) const = default;
};

// By the book: a line fits if it does together with its newline.
lines split(std::string_view content, std::size_t room) {
  lines all;
  while (!content.empty()) {
    const std::size_t size = std::min(content.find('\n'), content.size());
    if (size < room)
      all.fit.emplace_back(content.substr(0, size));
    else
      ++all.nskipped;
    content.remove_prefix(std::min(size + 1, content.size()));
  }
  return all;
}

// A file in memory, emptied after each use.
class scratch_file {
 public:
  scratch_file()
      : fd_(::memfd_create("fuzz", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
  ~scratch_file() { ::close(fd_); }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;

  const char* fill(std::string_view content) {
    const bool is_filled =
        ::ftruncate(fd_, 0) == 0 &&
        ::pwrite(fd_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size());
    promise(is_filled, "there is a file to read");
    return path_.c_str();
  }

 private:
  int fd_;
  std::string path_;
};

}  // namespace

FUZZ_TARGET(line_reader) {
  if (input.empty()) return;
  const std::size_t room = 1 + static_cast<unsigned char>(input.front()) % 64;
  const std::string_view content = input.substr(1);
  static scratch_file scratch;
  os::raw_file file(scratch.fill(content));
  promise(file.is_open(), "the file opens");

  const std::unique_ptr<char[]> buffer(new char[room]);
  os::line_reader reader(file, {buffer.get(), room});
  lines found;
  for (std::string_view line; reader.next(line);) found.fit.emplace_back(line);
  found.nskipped = reader.nskipped();
  promise(file.error() == 0, "nothing went wrong");
  promise(found == split(content, room), "the lines that fit are given, the others are counted");
}

}  // namespace weft
