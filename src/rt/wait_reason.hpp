// wait_reason.hpp: why a goroutine waits, in the words a dump prints.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft::rt {

enum class wait_reason : std::uint8_t {
  none,
  event,
  join,
  wait_group,
  sleep,
  main_goroutine,  // a thread in run()
};

constexpr std::string_view name_of(wait_reason r) noexcept {
  switch (r) {
    case wait_reason::none:
      return "";
    case wait_reason::event:
      return "event wait";
    case wait_reason::join:
      return "join";
    case wait_reason::wait_group:
      return "wait_group wait";
    case wait_reason::sleep:
      return "sleep";
    case wait_reason::main_goroutine:
      return "running main";
  }
  return "unknown";
}

}  // namespace weft::rt
