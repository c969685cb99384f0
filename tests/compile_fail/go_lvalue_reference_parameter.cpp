// Arguments are copied, as for std::thread: a function that wants a reference needs std::ref.
// expect: no matching function|constraints
#include <functional>
#include <weft/go.hpp>

void add(int& n);
void f(int& n) {
#if defined(WEFT_MUST_FAIL)
  weft::go(add, n);
}
#else
  weft::go(add, std::ref(n));
}
#endif
