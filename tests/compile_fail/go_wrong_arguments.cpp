// The arguments must fit the function.
// expect: no matching function|constraints
#include <string>
#include <weft/go.hpp>

void f() {
#if defined(WEFT_MUST_FAIL)
  weft::go([](std::string) {}, 1, 2);
}
#else
  weft::go([](std::string) {}, "text");
}
#endif
