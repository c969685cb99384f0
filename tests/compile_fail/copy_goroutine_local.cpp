// A goroutine_local is a key: a copy would name other values.
// expect: deleted
#include <weft/goroutine_local.hpp>

void f(weft::goroutine_local<int>& l) {
#if defined(WEFT_MUST_FAIL)
  weft::goroutine_local<int> copy(l);
}
#else
  *l = 1;
}
#endif
