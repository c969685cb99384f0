// A once is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/once.hpp>

void f(weft::once& t) {
#if defined(WEFT_MUST_FAIL)
  weft::once copy(t);
  copy.call([] {});
}
#else
  t.call([] {});
}
#endif
