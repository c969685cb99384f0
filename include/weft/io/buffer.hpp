// buffer.hpp: where bytes are read to and written from: any piece of memory.
//
//   std::array<char, 4096> room;
//   std::size_t n = c.read_some(room);              // an array, a vector, a string, a span of bytes or characters ...
//   c.write_all("pong\n");                          // ... or text, without the 0 at its end
//   c.write_all({room.data(), n});
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include <weft/detail/config.hpp>

namespace weft::inline v1::io {

namespace detail {

template <class T>
concept byte_like = sizeof(T) == 1 && std::is_trivially_copyable_v<T> && !std::same_as<T, bool>;

template <class R>
concept bytes = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                byte_like<std::remove_cv_t<std::ranges::range_value_t<R>>>;

template <class R>
concept writable_bytes =
    bytes<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

}  // namespace detail

// Does not own what it points to.
class mutable_buffer {
 public:
  constexpr mutable_buffer() noexcept = default;
  constexpr mutable_buffer(void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <detail::writable_bytes R>
    requires(!std::same_as<std::remove_cvref_t<R>, mutable_buffer>)
  constexpr mutable_buffer(R&& bytes) noexcept
      : data_(std::ranges::data(bytes)), size_(std::ranges::size(bytes)) {}

  constexpr void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

class const_buffer {
 public:
  constexpr const_buffer() noexcept = default;
  constexpr const_buffer(const void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr const_buffer(const mutable_buffer& b) noexcept : data_(b.data()), size_(b.size()) {}
  constexpr const_buffer(const char* text) noexcept : const_buffer(std::string_view(text)) {}
  template <detail::bytes R>
    requires(!std::same_as<std::remove_cvref_t<R>, const_buffer> &&
             !std::convertible_to<R, const char*>)
  constexpr const_buffer(R&& bytes) noexcept
      : data_(std::ranges::data(bytes)), size_(std::ranges::size(bytes)) {}

  constexpr const void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::inline v1::io
