// run() passes no arguments on.
// expect: no matching function|constraints
#include <weft/runtime.hpp>

int f() {
#if defined(WEFT_MUST_FAIL)
  return weft::run([](int n) { return n; }, 1);
}
#else
  return weft::run([] { return 1; });
}
#endif
