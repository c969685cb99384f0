// what_of.hpp: the message of a std::system_error, or that there was none.
#pragma once

#include <string>
#include <system_error>

namespace weft::test {

template <class Operation>
std::string what_of(Operation operation) {
  try {
    operation();
  } catch (const std::system_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace weft::test
