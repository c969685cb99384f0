// What is not a function cannot be a goroutine.
// expect: no matching function|constraints
#include <weft/go.hpp>

void f() {
#if defined(WEFT_MUST_FAIL)
  weft::go(42);
}
#else
  weft::go([] {});
}
#endif
