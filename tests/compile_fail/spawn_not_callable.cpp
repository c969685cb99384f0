// spawn() takes a function, too.
// expect: no matching function|constraints
#include <weft/go.hpp>

void f() {
#if defined(WEFT_MUST_FAIL)
  auto h = weft::spawn("text");
}
#else
  auto h = weft::spawn([] { return 1; });
  (void)h.join();
}
#endif
