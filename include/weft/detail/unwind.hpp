// unwind.hpp: the one thing that code which catches everything must let pass.
//
// exit_goroutine() unwinds the stack by a forced unwind, as pthread_exit does. A `catch (...)` sees it, and one that
// does not rethrow it stops the unwinding, which is a fatal error. Weft's own templates ask and rethrow.
#pragma once

#include <weft/detail/config.hpp>

namespace weft::inline v1::detail {

// In a `catch (...)`: what was caught is no C++ exception but exit_goroutine() on its way (or pthread_exit, or another language's), so it must be rethrown. (Catching
// abi::__forced_unwind& would do the same by binding a reference to nothing.)
WEFT_API bool must_rethrow() noexcept;

}  // namespace weft::inline v1::detail
