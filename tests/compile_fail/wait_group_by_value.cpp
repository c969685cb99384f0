// A goroutine cannot capture a wait_group by value: it would count down a copy.
// expect: deleted
#include <weft/sync.hpp>

void f(weft::wait_group& g) {
#if defined(WEFT_MUST_FAIL)
  weft::go([g] { (void)g; });
}
#else
  weft::go([&g] { g.done(); });
}
#endif
