// guard_test.cpp: no stack without a guard, whatever the kernel offers.

#include "stack/guard.hpp"

#include <gtest/gtest.h>

#include <ucontext.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "stack/arena.hpp"
#include "stack/test_support.hpp"

namespace weft::stack {
namespace {

using test::does_fault;
using test::is_guarded;
using test::pile;

// Sets the mode for a scope and holds all pooled stacks of the size, so that the test gets newly carved ones.
class with_mode {
 public:
  with_mode(guard_mode mode, std::size_t max_guards, std::size_t bytes)
      : before_((init(0), current_guard_mode())) {
    set_guard_mode_for_test(guard_mode::mprotect, 0);
    while (pooled_.add(bytes).stack != nullptr) {
    }
    set_guard_mode_for_test(mode, max_guards);
  }
  ~with_mode() { set_guard_mode_for_test(before_, guards_within(os::max_map_count()) / 2); }

 private:
  guard_mode before_;
  pile pooled_;
};

constexpr std::size_t kFallbackBytes = std::size_t{700} << 10;    // a slot of 1 MiB
constexpr std::size_t kRealLimitBytes = std::size_t{3000} << 10;  // 4 MiB

TEST(guard, a_new_stack_faults_below_its_lowest_byte_and_nowhere_above) {
  pile stacks;
  for (const std::size_t bytes :
       {kMinBytes, kDefaultBytes, std::size_t{1} << 20, std::size_t{64} << 20, kMaxBytes}) {
    const result r = stacks.add(bytes);
    ASSERT_NE(r.stack, nullptr) << explain(r.why);
    EXPECT_TRUE(is_guarded(r.stack)) << bytes;
    *r.stack->lo = std::byte{1};
  }
}

TEST(guard, every_page_of_the_guard_faults) {
  pile stacks;
  head* const s = stacks.add(kDefaultBytes).stack;
  ASSERT_NE(s, nullptr);
  for (std::byte* p = s->slot(); p < s->lo; p += os::page_size())
    EXPECT_TRUE(does_fault(p)) << (p - s->slot());
}

TEST(guard_death, a_store_into_the_guard_kills_the_process) {
  const result r = allocate(kDefaultBytes);
  ASSERT_NE(r.stack, nullptr);
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(r.stack->lo - 1) = 1, "");
  release(r.stack);
}

TEST(guard, survives_trim_and_scavenge) {
  head* s = allocate(kDefaultBytes).stack;
  ASSERT_NE(s, nullptr);
  trim(s, s->initial_sp());
  EXPECT_TRUE(is_guarded(s));
  std::byte* const slot = s->slot();
  release(s);
  scavenge(0);
  scavenge(SIZE_MAX);
  EXPECT_TRUE(does_fault(slot));
  EXPECT_TRUE(does_fault(slot + kGuardBytes - 1));
}

TEST(guard, mprotect_fallback_guards_as_well) {
  const with_mode forced(guard_mode::mprotect, 100, kFallbackBytes);
  EXPECT_STREQ(guard_kind(), "mprotect");
  const std::size_t before = test::count_vmas();
  pile stacks;
  for (int i = 0; i < 20; ++i) {
    const result r = stacks.add(kFallbackBytes);
    ASSERT_NE(r.stack, nullptr) << explain(r.why);
    EXPECT_TRUE(is_guarded(r.stack));
    std::memset(r.stack->lo, 0x5a, r.stack->usable());
  }
  EXPECT_GE(test::count_vmas(), before + 20) << "these guards were not made by mprotect";
}

TEST(guard, fallback_names_the_limit_instead_of_leaving_a_stack_without_guard) {
  const with_mode forced(guard_mode::mprotect, 3, kFallbackBytes);
  pile stacks;
  EXPECT_TRUE(stacks.add_many(3, kFallbackBytes));
  const std::size_t ncarved = stats().ncarved;
  for (int i = 0; i < 2; ++i) {
    const result r = stacks.add(kFallbackBytes);
    EXPECT_EQ(r.stack, nullptr);
    EXPECT_EQ(r.error, ENOMEM);
    EXPECT_EQ(r.why, reason::map_count);
    EXPECT_NE(std::strstr(explain(r.why), "vm.max_map_count"), nullptr);
  }
  EXPECT_EQ(stats().ncarved, ncarved);

  // The refused slots are not lost, and get their guard before they are handed out.
  set_guard_mode_for_test(guard_mode::mprotect, 2);
  for (int i = 0; i < 2; ++i) {
    const result r = stacks.add(kFallbackBytes);
    ASSERT_NE(r.stack, nullptr);
    EXPECT_TRUE(is_guarded(r.stack));
  }
  // A pooled stack has its guard already: the limit does not concern it.
  stacks.release_all();
  EXPECT_TRUE(stacks.add_many(5, kFallbackBytes));
}

TEST(guard, fallback_stops_with_room_left_for_the_program_under_the_real_limit) {
  if (os::max_map_count() > 70'000)
    GTEST_SKIP() << "vm.max_map_count is too high to be met in a unit test";
  if (test::kIsSanitized) GTEST_SKIP();
  EXPECT_EXIT(
      {
        init(0);
        set_guard_mode_for_test(guard_mode::mprotect, guards_within(os::max_map_count()));
        result r;
        std::size_t n = 0;
        while ((r = allocate(kRealLimitBytes)).stack != nullptr) ++n;
        const bool is_as_said =
            r.why == reason::map_count && n == guards_within(os::max_map_count());
        // The program can still map things.
        const os::mapping mine = os::reserve(std::size_t{1} << 20, os::page_size());
        std::_Exit(
            is_as_said && mine.base != nullptr && test::count_vmas() < os::max_map_count() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(guard, the_limit_leaves_a_sixteenth_to_the_program) {
  static_assert(guards_within(65530) == 30717);
  static_assert(guards_within(1000) == 0);
  static_assert(guards_within(1 << 20) == (1 << 19) - (1 << 15));
}

#if defined(__x86_64__) || defined(__aarch64__)

// What the overflow handler will do: on its own stack, ask what the faulting address is.
void report_fault(int, siginfo_t* info, void*) {
  const fault f = classify(info->si_addr);
  _exit(f.in_guard ? 42 : 43);
}

[[gnu::noinline]] int recurse(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return depth > (1 << 24) ? 0 : recurse(depth + 1) + frame[0];
}

// A frame of 60 KiB of which only the lowest byte is touched: it would step over any smaller guard.
#if !defined(__clang__)
[[gnu::optimize("no-stack-clash-protection")]]
#endif
[[gnu::noinline]] int
large_frame(int depth) {
  volatile char frame[60 << 10];
  frame[0] = static_cast<char>(depth);
  return depth > (1 << 14) ? 0 : large_frame(depth + 1) + frame[0];
}

template <int (*F)(int)>
void overflow() {
  _exit(F(0) == 0 ? 1 : 2);
}

void run_until_fault(head* s, void (*entry)()) {
  static char alternate[64 << 10];
  const stack_t alt{.ss_sp = alternate, .ss_flags = 0, .ss_size = sizeof alternate};
  sigaltstack(&alt, nullptr);
  struct sigaction action{};
  action.sa_sigaction = report_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  ucontext_t here, there;
  getcontext(&there);
  there.uc_stack.ss_sp = s->lo;
  there.uc_stack.ss_size = s->usable();
  there.uc_link = &here;
  makecontext(&there, entry, 0);
  swapcontext(&here, &there);
  _exit(3);
}

TEST(guard_death, endless_recursion_ends_in_the_guard_of_its_own_stack) {
  if (test::kIsSanitized) GTEST_SKIP();
  const result below = allocate(kDefaultBytes);
  const result r = allocate(kDefaultBytes);
  ASSERT_NE(r.stack, nullptr);
  EXPECT_EXIT(run_until_fault(r.stack, overflow<recurse>), testing::ExitedWithCode(42), "");
  EXPECT_EXIT(run_until_fault(r.stack, overflow<large_frame>), testing::ExitedWithCode(42), "");
  release(r.stack);
  release(below.stack);
}

#endif

}  // namespace
}  // namespace weft::stack
