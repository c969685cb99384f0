// error.cpp: what the codes of net::errc say.
#include <cstddef>
#include <new>
#include <string>

#include <weft/net/error.hpp>

namespace weft::inline v1::net {

namespace {

const char* text_of(errc e) noexcept {
  switch (e) {
    case errc::unknown_network:
      return "the network is none of tcp, tcp4, tcp6, udp, udp4, udp6, unix, unixgram and "
             "unixpacket";
    case errc::missing_address:
      return "missing address";
    case errc::missing_port:
      return "missing port in address";
    case errc::too_many_colons:
      return "too many colons in address";
    case errc::missing_bracket:
      return "missing ']' in address";
    case errc::unexpected_open_bracket:
      return "unexpected '[' in address";
    case errc::unexpected_close_bracket:
      return "unexpected ']' in address";
    case errc::invalid_address:
      return "invalid address";
    case errc::invalid_port:
      return "invalid port: not a number from 0 to 65535";
    case errc::unknown_port:
      return "unknown port";
    case errc::path_too_long:
      return "the path of a Unix socket has at most 107 bytes";
    case errc::no_suitable_address:
      return "no suitable address found";
    case errc::no_such_host:
      return "no such host";
    case errc::temporary_lookup_failure:
      return "temporary failure in name resolution";
    case errc::lookup_failure:
      return "failure in name resolution";
  }
  return "unknown network error";
}

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "weft.net"; }
  std::string message(int e) const override { return text_of(static_cast<errc>(e)); }
  std::error_condition default_error_condition(int e) const noexcept override {
    switch (static_cast<errc>(e)) {
      case errc::path_too_long:
        return std::errc::filename_too_long;
      case errc::no_suitable_address:
        return std::errc::address_not_available;
      case errc::temporary_lookup_failure:
        return std::errc::resource_unavailable_try_again;
      case errc::no_such_host:
      case errc::lookup_failure:
        return {e, *this};
      default:
        return std::errc::invalid_argument;
    }
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  alignas(category) static std::byte
      memory[sizeof(category)];  // never destroyed: others may ask at exit
  static const category* const only = ::new (memory) category;
  return *only;
}

std::error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

}  // namespace weft::inline v1::net
