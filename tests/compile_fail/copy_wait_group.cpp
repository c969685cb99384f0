// Go programmers pass a WaitGroup by value once and wait for ever: here it does not compile.
// expect: deleted
#include <weft/sync.hpp>

void f(weft::wait_group& g) {
#if defined(WEFT_MUST_FAIL)
  weft::wait_group copy(g);
  copy.done();
}
#else
  g.done();
}
#endif
