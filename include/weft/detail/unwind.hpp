// unwind.hpp: the one thing that code which catches everything must let pass.
//
// exit_goroutine() unwinds the stack by a forced unwind, as pthread_exit does. A `catch (...)` sees it, and one that
// does not rethrow it stops the unwinding, which is a fatal error. Weft's own templates ask and rethrow.
#pragma once

#include <cxxabi.h>

namespace weft::inline v1::detail {

// In a `catch (...)`: what was caught is no C++ exception, so it must be rethrown. (Catching abi::__forced_unwind& would do the
// same by binding a reference to nothing.)
inline bool must_rethrow() noexcept { return abi::__cxa_current_exception_type() == nullptr; }

}  // namespace weft::inline v1::detail
