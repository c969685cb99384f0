// The completion of a barrier runs between two phases, where nobody could catch what it throws.
// expect: noexcept
#include <weft/barrier.hpp>

void f() {
#if defined(WEFT_MUST_FAIL)
  weft::barrier b(1, [] {});
#else
  weft::barrier b(1, []() noexcept {});
#endif
  b.arrive_and_wait();
}
