// wait_group::go() takes a function without arguments.
// expect: no matching|constraints
#include <weft/sync.hpp>

void f(weft::wait_group& g) {
#if defined(WEFT_MUST_FAIL)
  g.go([](int) {});
}
#else
  g.go([] {});
}
#endif
