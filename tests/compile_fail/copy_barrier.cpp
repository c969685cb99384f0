// A barrier is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/barrier.hpp>

void f(weft::barrier<>& t) {
#if defined(WEFT_MUST_FAIL)
  weft::barrier<> copy(t);
  copy.arrive_and_wait();
}
#else
  t.arrive_and_wait();
}
#endif
