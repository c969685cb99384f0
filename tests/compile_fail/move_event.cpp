// Nor can an event be moved.
// expect: deleted
#include <utility>
#include <weft/event.hpp>

void f(weft::event& e) {
#if defined(WEFT_MUST_FAIL)
  weft::event moved(std::move(e));
  moved.set();
}
#else
  e.set();
}
#endif
