// pieces.hpp: what of several pieces of memory is still to be written.
#pragma once

#include <cstddef>
#include <span>

#include <weft/io/buffer.hpp>

namespace weft::inline v1::net::tls::detail {

class pieces {
 public:
  explicit pieces(std::span<const io::const_buffer> all) noexcept : rest_(all) { skip_empty(); }

  bool is_empty() const noexcept { return rest_.empty(); }
  // What comes next, in one piece.
  io::const_buffer first() const noexcept {
    const char* const begin = static_cast<const char*>(rest_.front().data());
    return {begin + offset_, rest_.front().size() - offset_};
  }
  // n: no more than first() has.
  void advance(std::size_t n) noexcept {
    offset_ += n;
    skip_empty();
  }

 private:
  void skip_empty() noexcept {
    while (!rest_.empty() && offset_ == rest_.front().size()) {
      rest_ = rest_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const io::const_buffer> rest_;
  std::size_t offset_ = 0;
};

}  // namespace weft::inline v1::net::tls::detail
