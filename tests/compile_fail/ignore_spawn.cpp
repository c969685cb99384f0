// A handle that nobody takes is a goroutine that go() should have started.
// expect: nodiscard|unused-result
#include <weft/go.hpp>

#pragma GCC diagnostic error "-Wunused-result"

void f() {
#if defined(WEFT_MUST_FAIL)
  weft::spawn([] { return 1; });
}
#else
  weft::go([] {});
}
#endif
