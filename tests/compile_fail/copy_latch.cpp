// A latch is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/latch.hpp>

void f(weft::latch& t) {
#if defined(WEFT_MUST_FAIL)
  weft::latch copy(t);
  copy.count_down();
}
#else
  t.count_down();
}
#endif
