// owned_fd.hpp: a number of the kernel's that is closed with its scope, unless it is released before.
#pragma once

#include <unistd.h>

#include <utility>

namespace weft::inline v1::io::detail {

class owned_fd {
 public:
  owned_fd() noexcept = default;
  explicit owned_fd(int fd) noexcept : fd_(fd) {}
  ~owned_fd() { reset(-1); }
  owned_fd(const owned_fd&) = delete;
  owned_fd& operator=(const owned_fd&) = delete;

  void reset(int fd) noexcept {
    if (fd_ != -1) ::close(fd_);
    fd_ = fd;
  }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace weft::inline v1::io::detail
