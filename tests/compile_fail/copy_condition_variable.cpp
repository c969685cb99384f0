// A condition_variable is where its waiters find it: it cannot be copied.
// expect: deleted
#include <weft/condition_variable.hpp>

void f(weft::condition_variable& t) {
#if defined(WEFT_MUST_FAIL)
  weft::condition_variable copy(t);
  copy.notify_one();
}
#else
  t.notify_one();
}
#endif
