// path_buffer.hpp: a path that is put together in place, without malloc.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace weft::os {

class path_buffer {
 public:
  // The kernel takes no longer path than this.
  static constexpr std::size_t kCapacity = 4095;

  path_buffer() noexcept { chars_[0] = '\0'; }

  // False, and nothing is appended, when it does not fit: half a path names another file.
  bool append(std::string_view more) noexcept {
    if (more.size() > kCapacity - size_) return false;
    std::copy_n(more.data(), more.size(), chars_.data() + size_);
    truncate(size_ + more.size());
    return true;
  }
  bool append(char c) noexcept { return append(std::string_view(&c, 1)); }

  // Keeps the first n characters; n is at most size().
  void truncate(std::size_t n) noexcept {
    size_ = n;
    chars_[n] = '\0';
  }

  std::size_t size() const noexcept { return size_; }
  const char* c_str() const noexcept { return chars_.data(); }
  std::string_view view() const noexcept { return {chars_.data(), size_}; }

 private:
  std::size_t size_ = 0;
  std::array<char, kCapacity + 1> chars_;  // only the first size_ and a zero are ever looked at
};

}  // namespace weft::os
