// preemptible.hpp: whether a loop that makes no call can be stopped here.
#pragma once

#include <gtest/gtest.h>

namespace weft::test {

// ThreadSanitizer delivers a signal only at the next call that it intercepts, so a loop without one cannot be stopped. It loses its P all the same:
// others run, and it computes on beside them. And one that allocates, throws, prints or reads the clock is stopped there. So only those tests
// are skipped that want a loop without a call to stand still, or could not get on beside one that does not.
constexpr bool is_preemptible() {
#if defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

}  // namespace weft::test

#define WEFT_SKIP_UNLESS_PREEMPTIBLE()                                                 \
  do {                                                                                 \
    if (!weft::test::is_preemptible()) {                                               \
      GTEST_SKIP() << "ThreadSanitizer delays the signal until the loop makes a call"; \
    }                                                                                  \
  } while (false)
