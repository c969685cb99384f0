// unwind.hpp: the one thing that code which catches everything must let pass.
//
// exit_goroutine() unwinds the stack by a forced unwind, as pthread_exit does. A `catch (...)` sees it, and one that
// does not rethrow it stops the unwinding, which is a fatal error. Weft's own templates rethrow it by this name.
#pragma once

#include <cxxabi.h>

namespace weft::inline v1::detail {

using goroutine_unwind = abi::__forced_unwind;

// On functions that catch it: a forced unwind has no object, so the reference binds to nothing, which UBSan would report.
#define WEFT_FORCED_UNWIND __attribute__((no_sanitize("null")))

}  // namespace weft::inline v1::detail
