// point.hpp: where testing::explore() may let another goroutine go on. Not for users.
//
// Every call into the library is such a point anyway. What is done in line, because it is quick, is none: the lock of a free mutex. A program
// that is compiled with WEFT_EXPLORE_LOCKS defined (all of it, and only for tests) has points there as well; any other pays nothing.
#pragma once

#include <weft/detail/config.hpp>

// A function that has one in line is compiled into each caller, so that the two kinds never meet under one name.
#if defined(WEFT_EXPLORE_LOCKS)
#define WEFT_POINTED __attribute__((always_inline))
#else
#define WEFT_POINTED
#endif

namespace weft::inline v1::detail {

WEFT_API WEFT_MAY_SWITCH void point() noexcept;

[[gnu::always_inline]] inline void lock_point() noexcept {
#if defined(WEFT_EXPLORE_LOCKS)
  point();
#endif
}

}  // namespace weft::inline v1::detail
