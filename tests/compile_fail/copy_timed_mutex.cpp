// A timed_mutex is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/mutex.hpp>

void f(weft::timed_mutex& m) {
#if defined(WEFT_MUST_FAIL)
  weft::timed_mutex copy(m);
  copy.lock();
}
#else
  m.lock();
}
#endif
