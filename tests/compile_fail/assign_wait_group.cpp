// A wait_group cannot be assigned.
// expect: deleted
#include <weft/sync.hpp>

void f(weft::wait_group& a, weft::wait_group& b) {
#if defined(WEFT_MUST_FAIL)
  a = b;
}
#else
  a.done();
  b.done();
}
#endif
