// context_test.cpp: the switch itself, without a scheduler: two stacks and the words that travel with them.
#include "arch/context.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "arch/backtrace.hpp"
#include "arch/exception_state.hpp"
#include "arch/sanitizer.hpp"

namespace weft::arch {
namespace {

// A stack and the two contexts between which it goes back and forth.
struct coroutine {
  alignas(64) std::array<std::byte, std::size_t{256} << 10> stack;
  context inside{};
  context outside{};
  fiber mine;
  fiber caller;
  int value = 0;
  void (*body)(coroutine&) = nullptr;

  explicit coroutine(void (*f)(coroutine&)) : body(f) {
    create_fiber(mine, stack.data(), stack.size());
    make_context(&inside, stack.data() + stack.size(), &coroutine::enter, this);
  }
  ~coroutine() { destroy_fiber(mine); }

  // Never inlined: what is live across the switch is then what the compiler keeps, as in the runtime.
  [[gnu::noinline]] void resume() {
    adopt_thread(caller, nullptr, 0);
#if defined(WEFT_ASAN)
    __sanitizer_start_switch_fiber(&caller.fake_stack, mine.low, mine.size);
    switch_context(&outside, &inside);
    __sanitizer_finish_switch_fiber(caller.fake_stack, nullptr, nullptr);
#else
    start_switch(caller, mine, false);
    switch_context(&outside, &inside);
    finish_switch(caller);
#endif
  }
  [[gnu::noinline]] void suspend() {
#if defined(WEFT_ASAN)
    __sanitizer_start_switch_fiber(&mine.fake_stack, caller.low, caller.size);
    switch_context(&inside, &outside);
    __sanitizer_finish_switch_fiber(mine.fake_stack, &caller.low, &caller.size);
#else
    start_switch(mine, caller, false);
    switch_context(&inside, &outside);
    finish_switch(mine);
#endif
  }

  static void enter(void* p) {
    auto& self = *static_cast<coroutine*>(p);
#if defined(WEFT_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, &self.caller.low, &self.caller.size);
#endif
    self.body(self);
    for (;;) self.suspend();
  }
};

TEST(context, begins_at_its_entry_with_its_argument_and_goes_back_and_forth) {
  auto c = std::make_unique<coroutine>(+[](coroutine& self) {
    for (int i = 1; i <= 3; ++i) {
      self.value += i;
      self.suspend();
    }
  });
  EXPECT_EQ(c->value, 0);
  for (const int expected : {1, 3, 6, 6}) {
    c->resume();
    EXPECT_EQ(c->value, expected);
  }
}

TEST(context, begins_on_an_aligned_empty_stack) {
  static std::uintptr_t frame;
  auto c = std::make_unique<coroutine>(+[](coroutine& self) {
    alignas(16) volatile char probe[16];
    frame = reinterpret_cast<std::uintptr_t>(&probe);
    self.value = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) % 16 == 0;
  });
  c->resume();
  EXPECT_EQ(c->value, 1);
  EXPECT_EQ(frame % 16, 0u);
#if !defined(WEFT_ASAN)  // with a fake stack the variable lies elsewhere
  EXPECT_GE(frame, reinterpret_cast<std::uintptr_t>(c->stack.data()));
  EXPECT_LT(frame, reinterpret_cast<std::uintptr_t>(c->stack.data() + c->stack.size()));
#endif
}

// Many values live across the switch, of both kinds of registers: more than there are registers.
TEST(context, what_is_live_across_a_switch_survives) {
  auto c = std::make_unique<coroutine>(+[](coroutine& self) {
    double d[20];
    for (int i = 0; i < 20; ++i) d[i] = -i;
    for (;;) {
      self.suspend();
      for (int i = 0; i < 20; ++i) d[i] -= 1;
      self.value += d[3] != 0;
    }
  });
  std::uint64_t a = 1, b = 2, e = 3, f = 4, g = 5, h = 6, i = 7, j = 8;
  double u = 1.5, v = 2.5, w = 3.5, x = 4.5, y = 5.5, z = 6.5;
  for (int n = 0; n < 100; ++n) {
    asm volatile("" : "+r"(a), "+r"(b), "+r"(e), "+r"(f));
    c->resume();
    a += b;
    b ^= e;
    e += f + g;
    f += h;
    g += i;
    h += j;
    u += v;
    v += w;
    w -= x;
    x += y * 0.5;
    y += z * 0.25;
  }
  std::uint64_t a2 = 1, b2 = 2, e2 = 3, f2 = 4, g2 = 5, h2 = 6;
  double u2 = 1.5, v2 = 2.5, w2 = 3.5, x2 = 4.5, y2 = 5.5;
  for (int n = 0; n < 100; ++n) {
    a2 += b2;
    b2 ^= e2;
    e2 += f2 + g2;
    f2 += h2;
    g2 += i;
    h2 += j;
    u2 += v2;
    v2 += w2;
    w2 -= x2;
    x2 += y2 * 0.5;
    y2 += z * 0.25;
  }
  EXPECT_EQ(a, a2);
  EXPECT_EQ(b, b2);
  EXPECT_EQ(e, e2);
  EXPECT_EQ(f, f2);
  EXPECT_EQ(u, u2);
  EXPECT_EQ(v, v2);
  EXPECT_EQ(w, w2);
}

TEST(context, a_walk_ends_at_the_entry) {
  static int frames;
  frames = 0;
  auto c = std::make_unique<coroutine>(+[](coroutine&) {
    walk_stack(
        [](const void*, void*) {
          ++frames;
          return frames < 1000;
        },
        nullptr);
  });
  c->resume();
  EXPECT_GE(frames, 2);
  EXPECT_LT(frames, 20);
}

TEST(context, an_exception_thrown_and_caught_on_a_made_stack_stays_there) {
  auto c = std::make_unique<coroutine>(+[](coroutine& self) {
    try {
      throw 5;
    } catch (int n) {
      self.value = n;
    }
  });
  c->resume();
  EXPECT_EQ(c->value, 5);
}

TEST(fp_control_words, what_is_loaded_is_what_is_saved) {
  const fp_control before = current_fp_control();
  std::fesetround(FE_UPWARD);
  const fp_control upward = current_fp_control();
  EXPECT_NE(upward, before);
  load_fp_control(before);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(current_fp_control(), before);
  load_fp_control(upward);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  load_fp_control(before);
}

#if defined(__x86_64__)
TEST(fp_control_words, sticky_flags_are_no_control_bits) {
  const fp_control before = current_fp_control();
  std::feraiseexcept(FE_INEXACT);
  EXPECT_EQ(current_fp_control(), before) << "a flag made the words look different";
  load_fp_control(before);
  EXPECT_NE(std::fetestexcept(FE_INEXACT), 0) << "loading swept a flag away";
  std::feclearexcept(FE_ALL_EXCEPT);
}
#endif

TEST(exception_state, is_the_threads_own_and_shows_what_is_in_flight) {
  exception_state* const mine = thread_exception_state();
  EXPECT_EQ(mine, thread_exception_state());
  EXPECT_TRUE(mine->is_clear());
  try {
    throw 1;
  } catch (int) {
    EXPECT_NE(mine->caught, nullptr);
    EXPECT_EQ(mine->uncaught, 0u);
    EXPECT_FALSE(mine->is_clear());
  }
  EXPECT_TRUE(mine->is_clear());
  struct looks {
    exception_state* state;
    ~looks() { EXPECT_EQ(state->uncaught, 1u); }
  };
  try {
    looks l{mine};
    throw 2;
  } catch (int) {
  }
}

}  // namespace
}  // namespace weft::arch
