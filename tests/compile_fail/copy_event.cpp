// An event is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/event.hpp>

void f(weft::event& e) {
#if defined(WEFT_MUST_FAIL)
  weft::event copy(e);
  copy.set();
}
#else
  e.set();
}
#endif
