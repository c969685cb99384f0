// A recursive_mutex is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/recursive_mutex.hpp>

void f(weft::recursive_mutex& t) {
#if defined(WEFT_MUST_FAIL)
  weft::recursive_mutex copy(t);
  copy.lock();
}
#else
  t.lock();
}
#endif
