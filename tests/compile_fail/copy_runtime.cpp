// There is one runtime at a time: it cannot be copied.
// expect: deleted
#include <weft/runtime.hpp>

void f(weft::runtime& r) {
#if defined(WEFT_MUST_FAIL)
  weft::runtime copy(r);
}
#else
  (void)&r;
}
#endif
