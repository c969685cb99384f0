// unwind_test.cpp: the C++ unwinder's own walk ends at the goroutine's first frame (HAZARDS 46).
#include <execinfo.h>
#include <unwind.h>

#include <cstdint>

#include <weft/weft.hpp>
#include "arch/context.hpp"
#include "support/for_procs.hpp"

namespace {

struct walk {
  int nframes = 0;
  std::uintptr_t last = 0;
  bool has_zero = false;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* arg) {
  auto* const w = static_cast<walk*>(arg);
  const std::uintptr_t pc = _Unwind_GetIP(context);
  if (pc == 0) {  // libgcc shows one last frame without an address
    w->has_zero = true;
    return _URC_NO_REASON;
  }
  if (w->has_zero) w->nframes = 1000;  // something after the end
  w->last = pc;
  return ++w->nframes < 500 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool is_entry(std::uintptr_t pc) {
  const auto begin = reinterpret_cast<std::uintptr_t>(&weft::arch::weft_context_entry);
  return pc > begin && pc < begin + 64;
}

[[gnu::noinline]] walk walk_from(int depth) {
  walk w;
  if (depth == 0) {
    EXPECT_EQ(_Unwind_Backtrace(&step, &w), _URC_END_OF_STACK);
  } else {
    w = walk_from(depth - 1);
  }
  asm volatile("" : : : "memory");
  return w;
}

TEST_FOR_PROCS(platform_unwind, ends_at_the_entry_of_the_goroutine) {
  const walk short_walk = weft::spawn([] { return walk_from(0); }).join();
  const walk long_walk = weft::spawn([] {
                           weft::yield();  // also after it has moved
                           return walk_from(10);
                         }).join();
  EXPECT_TRUE(is_entry(short_walk.last)) << std::hex << short_walk.last;
  EXPECT_TRUE(is_entry(long_walk.last)) << std::hex << long_walk.last;
  EXPECT_GE(long_walk.nframes, short_walk.nframes + 10);
  EXPECT_LT(long_walk.nframes, 100);
}

TEST_FOR_PROCS(platform_unwind, backtrace_of_the_c_library_ends_too) {
  weft::spawn([] {
    void* frames[200];
    const int n = ::backtrace(frames, 200);
    ASSERT_LT(n, 50);
    ASSERT_GT(n, 2);
    const bool is_last = is_entry(reinterpret_cast<std::uintptr_t>(frames[n - 1]));
    const bool is_last_but_one = is_entry(reinterpret_cast<std::uintptr_t>(frames[n - 2]));
    EXPECT_TRUE(is_last || is_last_but_one);
  }).join();
}

}  // namespace
