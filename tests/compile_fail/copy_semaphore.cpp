// A semaphore is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/semaphore.hpp>

void f(weft::semaphore& t) {
#if defined(WEFT_MUST_FAIL)
  weft::semaphore copy(t);
  copy.acquire();
}
#else
  t.acquire();
}
#endif
