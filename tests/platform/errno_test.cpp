// errno_test.cpp: errno after weft's own wrappers, in this binary's optimisation and wherever the goroutine went (HAZARDS 43).
// blocking() promises errno of its function. It may switch before it calls it, so errno from before is not kept.
#include <cerrno>

#include <weft/weft.hpp>
#include "platform/tool.hpp"
#include "support/for_procs.hpp"

namespace {

// Not inlined: the true address on this thread.
[[gnu::noinline]] int* errno_address() {
  int* p = &errno;
  asm volatile("" : "+r"(p));
  return p;
}

// Not inlined either: the compiler takes errno's address once per function, and the caller's loop switches.
[[gnu::noinline]] void check_one(int i) {
  const int result = weft::blocking([i] {
    errno = 1000 + i;
    return -1;
  });
  EXPECT_EQ(result, -1);
  EXPECT_EQ(*errno_address(), 1000 + i);
}

TEST_FOR_PROCS(platform_errno, is_what_the_blocking_function_left) {
  weft::wait_group all;
  for (int i = 0; i < 50; ++i) {
    all.go([i] {
      for (int k = 0; k < 20; ++k) {
        check_one(i);
        weft::yield();
      }
    });
  }
  all.wait();
}

// The same where every goroutine resumes on another thread each time, and a look whether it really does.
TEST(platform_errno, survives_forced_migration) {
  if (weft::test::is_migrating()) {
    bool has_moved = false;
    weft::test::run_on(4, [&] {
      int* const before = errno_address();
      for (int i = 0; i < 20; ++i) {
        weft::yield();
        check_one(i);
        has_moved |= errno_address() != before;
      }
    });
    EXPECT_TRUE(has_moved);
    return;
  }
  auto command = weft::test::words_of(WEFT_TEST_EMULATOR);
  command.push_back("/proc/self/exe");
  char self[4096] = {};
  ASSERT_GT(::readlink("/proc/self/exe", self, sizeof self - 1), 0);
  command.back() = self;
  command.push_back("--gtest_filter=platform_errno.*");
  const auto ended =
      weft::test::run_child({.command = command, .environment = {{"WEFT_DEBUG", "migrate=1"}}});
  EXPECT_TRUE(weft::test::exited(ended, 0));
}

}  // namespace
