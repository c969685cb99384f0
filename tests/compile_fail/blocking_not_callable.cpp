// blocking() runs a function without arguments.
// expect: no matching function|constraints
#include <weft/go.hpp>

int f() {
#if defined(WEFT_MUST_FAIL)
  return weft::blocking([](int n) { return n; });
}
#else
  return weft::blocking([] { return 1; });
}
#endif
