// numbered_error.hpp: an exception that one knows again.
#pragma once

#include <stdexcept>

namespace weft::seeds {

struct numbered_error : std::runtime_error {
  explicit numbered_error(int number) : std::runtime_error("numbered"), id(number) {}
  int id;
};

}  // namespace weft::seeds
