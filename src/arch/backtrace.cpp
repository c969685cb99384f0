// backtrace.cpp: see backtrace.hpp.
#include "arch/backtrace.hpp"

#include <unwind.h>

namespace weft::arch {

namespace {

struct walk {
  frame_visitor visit;
  void* arg;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* p) {
  const auto* const w = static_cast<const walk*>(p);
  int is_interrupted_here =
      0;  // by a signal: the pc is the instruction itself, not the one after a call
  const auto pc = _Unwind_GetIPInfo(context, &is_interrupted_here);
  if (pc == 0) return _URC_END_OF_STACK;
  const auto inside = is_interrupted_here ? pc : pc - 1;
  return w->visit(reinterpret_cast<const void*>(inside), w->arg) ? _URC_NO_REASON
                                                                 : _URC_END_OF_STACK;
}

}  // namespace

void walk_stack(frame_visitor visit, void* arg) noexcept {
  walk w{visit, arg};
  _Unwind_Backtrace(&step, &w);
}

void prepare_backtrace() noexcept {
  walk_stack([](const void*, void*) { return false; }, nullptr);
}

}  // namespace weft::arch
