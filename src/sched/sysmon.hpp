// sysmon.hpp: the thread that watches over the others.
#pragma once

#include <cstdint>

namespace weft::sched {

// What sysmon found at one look.
struct findings {
  bool did_something = false;
  bool any_deferral = false;   // a wake-up was left out since the last look
  bool any_without_p = false;  // somebody computes without a P
  bool none_free = false;      // somebody waits, and no P is free
  bool any_suspect =
      false;  // others wait for a P whose goroutine has not called in since the last look
};

// Looks at every P, and at those who have lost theirs; last: what the look before this one found. From sysmon, and from tests without one.
findings look_at_all(std::int64_t now_ns, const findings& last) noexcept;

// Its whole life. It has no M and no P, runs no user code, and waits for no lock outside weft.
void sysmon_main(void*) noexcept;

}  // namespace weft::sched
