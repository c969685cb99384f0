// failure.hpp: an error and what it is about, on its way to the public function that throws it or gives the code alone.
//
// A caller may put its own words before it: "dial tcp" + ": " + about.
#pragma once

#include <string>
#include <system_error>
#include <utility>

namespace weft::networks {

struct failure {
  std::error_code code;
  std::string about;  // "address 127.0.0.1", "lookup printer"

  void set(std::error_code why, std::string what_about) {
    code = why;
    about = std::move(what_about);
  }
  explicit operator bool() const noexcept { return static_cast<bool>(code); }

  [[noreturn]] void raise() const { throw std::system_error(code, about); }
  void raise_if_any() const {
    if (code) raise();
  }
};

}  // namespace weft::networks
