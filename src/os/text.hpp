// text.hpp: putting a message together and writing it out, without stdio, malloc or locks.
//
// Usable in a signal handler and inside the runtime. What does not fit is cut.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::os {

// Writes all of it, whatever interrupts; errors are ignored (there is nowhere left to complain).
void write_all(int fd, std::string_view text) noexcept;

// The same for one who must not wait: a pipe that is full, or a terminal that was stopped, may have nobody who ever reads it. False: there is
// no room for it now, and nothing was written. Of no more than a page.
bool write_if_room(int fd, std::string_view text) noexcept;

inline constexpr int kStderr = 2;

struct hex {
  std::uintptr_t value;
};

class text {
 public:
  text& operator<<(std::string_view s) noexcept {
    for (char c : s) put(c);
    return *this;
  }
  text& operator<<(const char* s) noexcept { return *this << std::string_view(s ? s : ""); }
  text& operator<<(char c) noexcept {
    put(c);
    return *this;
  }
  template <std::integral I>
    requires(!std::same_as<I, char> && !std::same_as<I, bool>)
  text& operator<<(I n) noexcept {
    if constexpr (std::signed_integral<I>) {
      if (n < 0) {
        put('-');
        return digits(std::uint64_t{0} - static_cast<std::uint64_t>(n), 10);
      }
    }
    return digits(static_cast<std::uint64_t>(n), 10);
  }
  text& operator<<(hex h) noexcept {
    *this << "0x";
    return digits(h.value, 16);
  }

  std::string_view view() const noexcept { return {buffer_, size_}; }
  void clear() noexcept { size_ = 0; }

 private:
  void put(char c) noexcept {
    if (size_ < sizeof buffer_) buffer_[size_++] = c;
  }
  text& digits(std::uint64_t n, unsigned base) noexcept {
    char reversed[20];
    int count = 0;
    do {
      reversed[count++] = "0123456789abcdef"[n % base];
      n /= base;
    } while (n != 0);
    while (count > 0) put(reversed[--count]);
    return *this;
  }

  std::size_t size_ = 0;
  char buffer_[1000];
};

}  // namespace weft::os
