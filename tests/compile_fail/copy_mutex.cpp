// A mutex is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/mutex.hpp>

void f(weft::mutex& m) {
#if defined(WEFT_MUST_FAIL)
  weft::mutex copy(m);
  copy.lock();
}
#else
  m.lock();
}
#endif
