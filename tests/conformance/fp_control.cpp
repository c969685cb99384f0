// fp_control.cpp: the floating-point control words belong to the goroutine (B333, HAZARD 53).
#include <cfenv>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

// Not known at compile time, so that the division happens here and now.
[[gnu::noinline]] double divide(double a, double b) {
  asm volatile("" : "+x"(a), "+x"(b));
  double q = a / b;
  asm volatile("" : "+x"(q));
  return q;
}

const int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

TEST_FOR_PROCS(fp_control, the_rounding_mode_is_per_goroutine) {
  weft::wait_group wg;
  for (int i = 0; i < 12; ++i) {
    wg.go([i] {
      EXPECT_EQ(std::fegetround(), FE_TONEAREST)
          << "a new goroutine begins with the program's own mode";
      const int mode = kModes[i % 4];
      std::fesetround(mode);
      const double third = divide(1.0, 3.0);
      for (int n = 0; n < 50; ++n) {
        weft::yield();
        ASSERT_EQ(std::fegetround(), mode);
        ASSERT_EQ(divide(1.0, 3.0), third);
        weft::event e;
        weft::go([&e] { e.set(); });
        e.wait();
        ASSERT_EQ(std::fegetround(), mode);
        weft::blocking([] { std::this_thread::yield(); });
        ASSERT_EQ(std::fegetround(), mode);
      }
    });
  }
  wg.wait();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST_FOR_PROCS(fp_control, a_goroutine_that_ends_with_another_mode_leaves_no_trace) {
  for (int i = 0; i < 50; ++i) {
    weft::spawn([i] { std::fesetround(kModes[i % 4]); }).join();
    ASSERT_EQ(weft::spawn([] { return std::fegetround(); }).join(), FE_TONEAREST);
    ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

TEST(fp_control, goroutines_begin_with_the_mode_that_run_was_called_with) {
  std::fesetround(FE_UPWARD);
  weft::test::run_on(2, [] {
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    EXPECT_EQ(weft::spawn([] { return std::fegetround(); }).join(), FE_UPWARD);
  });
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  std::fesetround(FE_TONEAREST);
}

TEST(fp_control, main_that_changes_the_mode_does_not_change_the_callers) {
  weft::test::run_on(1, [] { std::fesetround(FE_DOWNWARD); });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

#if defined(__x86_64__)

TEST_FOR_PROCS(fp_control, flush_to_zero_and_denormals_are_zero_are_per_goroutine) {
  constexpr unsigned kFtzDaz = 0x8040;
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([i] {
      const unsigned mine = (_mm_getcsr() & ~kFtzDaz) | (i % 2 != 0 ? kFtzDaz : 0);
      _mm_setcsr(mine);
      for (int n = 0; n < 50; ++n) {
        weft::yield();
        ASSERT_EQ(_mm_getcsr() & kFtzDaz, mine & kFtzDaz);
      }
    });
  }
  wg.wait();
  EXPECT_EQ(_mm_getcsr() & kFtzDaz, 0u);
}

unsigned short x87_control() {
  unsigned short w;
  asm volatile("fnstcw %0" : "=m"(w));
  return w;
}
void set_x87_control(unsigned short w) { asm volatile("fldcw %0" : : "m"(w)); }

TEST_FOR_PROCS(fp_control, the_x87_precision_is_per_goroutine) {
  const unsigned short initial = x87_control();
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([i, initial] {
      EXPECT_EQ(x87_control(), initial);
      constexpr unsigned short kPrecision[] = {0x000, 0x200, 0x300};  // single, double, extended
      const auto mine = static_cast<unsigned short>((initial & ~0x300) | kPrecision[i % 3]);
      set_x87_control(mine);
      for (int n = 0; n < 50; ++n) {
        weft::yield();
        ASSERT_EQ(x87_control(), mine);
      }
    });
  }
  wg.wait();
  EXPECT_EQ(x87_control(), initial);
}

TEST_FOR_PROCS(fp_control, the_x87_stack_is_empty_in_a_new_goroutine) {
  const auto tag_word = [] {
    struct {
      unsigned short control, r0, status, r1, tag, r2;
      unsigned rest[4];
    } env;
    asm volatile("fnstenv %0\n\tfldenv %0" : "=m"(env));
    return env.tag;
  };
  for (int i = 0; i < 20; ++i) ASSERT_EQ(weft::spawn([&] { return tag_word(); }).join(), 0xFFFF);
}

#endif

}  // namespace
