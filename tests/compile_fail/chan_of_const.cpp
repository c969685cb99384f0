// What is received is moved out: a channel carries no const objects. The handle alone does not say so, since its T may be incomplete.
// expect: objects that can be moved
#include <weft/chan.hpp>

void f() {
#if defined(WEFT_MUST_FAIL)
  (void)weft::make_chan<const int>();
#else
  (void)weft::make_chan<int>();
#endif
}
