// The main goroutine returns void or something that is an int.
// expect: static_cast|cannot convert|invalid
#include <string>
#include <weft/runtime.hpp>

int f() {
#if defined(WEFT_MUST_FAIL)
  return weft::run([] { return std::string(); });
}
#else
  return weft::run([] { return 1; });
}
#endif
