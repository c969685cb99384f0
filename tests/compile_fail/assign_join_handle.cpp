// Nor can a handle be copied by assignment.
// expect: deleted|implicitly
#include <weft/join_handle.hpp>

void f(weft::join_handle<int>& a, weft::join_handle<int>& b) {
#if defined(WEFT_MUST_FAIL)
  a = b;
}
#else
  a = static_cast<weft::join_handle<int>&&>(b);
}
#endif
