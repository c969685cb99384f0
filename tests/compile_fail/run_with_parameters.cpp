// The main goroutine takes no arguments.
// expect: no matching function|constraints
#include <weft/runtime.hpp>

int f() {
#if defined(WEFT_MUST_FAIL)
  return weft::run([](int) {});
}
#else
  return weft::run([] {});
}
#endif
