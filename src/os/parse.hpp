// parse.hpp: taking short texts apart without malloc.
//
// The kernel speaks text (cgroup files, mountinfo, /proc/self/stat) and so does the environment. weft reads both from
// places where malloc, throw and stdio are forbidden, so everything here works on string_views into somebody's buffer.
// Nothing in this file knows what any text means.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace weft::os {

// The number that the whole text is, or nothing: no sign for unsigned types, no spaces, no overflow.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view digits, int base = 10) noexcept {
  Number value{};
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

// Cuts the field before the first separator off the front of rest. Without a separator that is all of rest, and rest
// becomes a null view: `while (rest.data() != nullptr)` therefore visits an empty last field too.
inline std::string_view take_field(std::string_view& rest, char separator) noexcept {
  const std::size_t at = rest.find(separator);
  const std::string_view field = rest.substr(0, at);
  rest = at == rest.npos ? std::string_view() : rest.substr(at + 1);
  return field;
}

inline bool list_contains(std::string_view list, std::string_view wanted,
                          char separator = ',') noexcept {
  while (list.data() != nullptr) {
    if (take_field(list, separator) == wanted) return true;
  }
  return false;
}

inline std::string_view without_newline(std::string_view line) noexcept {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

}  // namespace weft::os
