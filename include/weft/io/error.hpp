// error.hpp: what reading and writing can end with, beside the errors of the system.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <type_traits>

#include <weft/detail/config.hpp>

namespace weft::inline v1::io {

enum class errc : std::uint8_t {
  closed = 1,  // it was closed, by this goroutine or another; equals std::errc::bad_file_descriptor
  deadline_exceeded = 2,  // its deadline has passed; equals std::errc::timed_out
  unexpected_eof = 3,     // read_full: the stream ended before that
};
WEFT_API const std::error_category& category() noexcept;
WEFT_API std::error_code make_error_code(errc e) noexcept;

}  // namespace weft::inline v1::io

template <>
struct std::is_error_code_enum<weft::io::errc> : std::true_type {};
