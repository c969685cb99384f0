// One goroutine has one result: its handle cannot be copied.
// expect: deleted|implicitly
#include <weft/join_handle.hpp>

void f(weft::join_handle<int>& h) {
#if defined(WEFT_MUST_FAIL)
  weft::join_handle<int> copy(h);
  (void)copy.join();
}
#else
  (void)h.join();
}
#endif
