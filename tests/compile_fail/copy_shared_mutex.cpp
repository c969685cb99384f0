// A shared_mutex is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/shared_mutex.hpp>

void f(weft::shared_mutex& t) {
#if defined(WEFT_MUST_FAIL)
  weft::shared_mutex copy(t);
  copy.lock();
}
#else
  t.lock();
}
#endif
