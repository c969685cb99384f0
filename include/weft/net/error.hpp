// error.hpp: what can be wrong with a network's name, an address or a look-up, as an error_code.
//
//   std::error_code ec;
//   auto hosts = weft::net::lookup_host("printer.invalid", ec);
//   if (ec == weft::net::errc::no_such_host) ...
//
// What the system says (refused, reset, ...) comes in std::system_category(), the end of a context in context_category().
// Forms without an error_code throw std::system_error, whose text also says about what: "address 127.0.0.1: missing port in address".
#pragma once

#include <cstdint>
#include <system_error>
#include <type_traits>

#include <weft/detail/config.hpp>

namespace weft::inline v1 {
namespace net {

// Those about how something is written compare equal to std::errc::invalid_argument.
enum class errc : std::uint8_t {
  unknown_network = 1,
  missing_address,
  missing_port,
  too_many_colons,
  missing_bracket,
  unexpected_open_bracket,
  unexpected_close_bracket,
  invalid_address,
  invalid_port,
  unknown_port,              // a name that no service has
  path_too_long,             // also std::errc::filename_too_long
  no_suitable_address,       // also std::errc::address_not_available
  no_such_host,              // there is no such name, or it has no address
  temporary_lookup_failure,  // also std::errc::resource_unavailable_try_again
  lookup_failure,            // the name service is broken or badly set up
};

WEFT_API const std::error_category& error_category() noexcept;
WEFT_API std::error_code make_error_code(errc e) noexcept;

}  // namespace net
}  // namespace weft::inline v1

template <>
struct std::is_error_code_enum<weft::net::errc> : std::true_type {};
