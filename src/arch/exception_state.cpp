// exception_state.cpp: see exception_state.hpp.
#include "arch/exception_state.hpp"

#include <cxxabi.h>

namespace weft::arch {

[[gnu::noinline]] exception_state* thread_exception_state() noexcept {
  return reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

}  // namespace weft::arch
