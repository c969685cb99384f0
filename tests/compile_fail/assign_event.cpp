// An event cannot be assigned: whoever waits on the old one would wait for ever.
// expect: deleted
#include <weft/event.hpp>

void f(weft::event& a, weft::event& b) {
#if defined(WEFT_MUST_FAIL)
  a = b;
}
#else
  a.set();
  b.set();
}
#endif
