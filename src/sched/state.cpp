// state.cpp: the one instance of everything shared.
#include "sched/state.hpp"

#include "sched/current.hpp"

namespace weft::sched {

constinit Sched sched;

extern "C" {
constinit thread_local M* weft_tls_m = nullptr;
}

[[gnu::noinline]] void set_current_m(M* mp) noexcept { weft_tls_m = mp; }

}  // namespace weft::sched
