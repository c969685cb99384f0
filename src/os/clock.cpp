// clock.cpp: see clock.hpp.
#include "os/clock.hpp"

#include <ctime>

namespace weft::os {

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * kSecond + now.tv_nsec;
}

}  // namespace weft::os
