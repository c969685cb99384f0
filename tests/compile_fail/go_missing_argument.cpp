// No argument may be missing.
// expect: no matching function|constraints
#include <weft/go.hpp>

void f() {
#if defined(WEFT_MUST_FAIL)
  weft::go([](int) {});
}
#else
  weft::go([](int) {}, 1);
}
#endif
