// The arguments must fit the function.
// expect: no matching function|constraints
#include <weft/weft.hpp>
#include <string>

void f() {
#if defined(WEFT_MUST_FAIL)
  weft::go([](std::string) {}, 1, 2);
}
#else
  weft::go([](std::string) {}, "text");
}
#endif
