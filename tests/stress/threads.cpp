// threads.cpp: threads of the runtime that come and go leave nothing behind.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

#include <weft/weft.hpp>

#include "sched/state.hpp"
#include "support/for_procs.hpp"

namespace {

constexpr const char* kWhyNot =
    "the sanitizer maps memory as it likes, and finds such threads itself";

std::atomic<bool> is_naming_slow{false};
std::atomic<bool> is_lock_tried{false};
std::atomic<std::uint64_t> nlet_go{0};  // detached or joined

std::size_t address_space() {
  unsigned long pages = 0;
  std::FILE* const f = std::fopen("/proc/self/statm", "r");
  if (f == nullptr || std::fscanf(f, "%lu", &pages) != 1) pages = 0;
  if (f != nullptr) std::fclose(f);
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void end_threads(int n) {
  weft::wait_group wg;
  for (int i = 0; i < n; ++i) wg.go([] { weft::lock_os_thread(); });  // ends locked: the thread too
  wg.wait();
}

// A thread that nobody lets go keeps its stack of half a megabyte.
void expect_no_stack_left(int nthreads) {
  end_threads(100);  // the C library keeps some for the next threads
  const std::size_t before = address_space();
  ASSERT_GT(before, 0u);
  for (int i = 0; i < nthreads / 50; ++i) end_threads(50);
  EXPECT_LT(address_space(), before + static_cast<std::size_t>(nthreads) * (256 << 10));
  EXPECT_GE(weft::stats().threads_created, 100u + static_cast<unsigned>(nthreads));
}

TEST(thread_race, a_thousand_that_end_with_their_goroutines_leave_no_stack_behind) {
  if (weft::test::kIsAsan || weft::test::kIsTsan) GTEST_SKIP() << kWhyNot;
  weft::test::run_on(2, [] { expect_no_stack_left(1000); });
}

// The one that makes a thread names it before it notes its handle, and is held up there: most are gone when it comes to that.
TEST(thread_race, those_that_are_gone_before_their_maker_looks_leave_no_stack_behind) {
  if (weft::test::kIsAsan || weft::test::kIsTsan) GTEST_SKIP() << kWhyNot;
  is_naming_slow = true;
  weft::test::run_on(2, [] { expect_no_stack_left(150); });
  is_naming_slow = false;
}

// pthread_detach frees the stack of a thread that is gone, under locks of the C library's. Whoever calls it with the scheduler's own lock
// in hand hangs here.
TEST(thread_race, each_is_let_go_once_and_outside_the_schedulers_lock) {
  if (weft::test::kIsAsan || weft::test::kIsTsan) GTEST_SKIP() << kWhyNot;
  is_lock_tried = true;
  for (const bool is_slow : {false, true}) {
    is_naming_slow = is_slow;
    nlet_go = 0;
    const std::uint64_t before = weft::stats().threads_created;
    static std::atomic<bool> may_end;  // the orphan outlives this function's variables
    may_end = false;
    weft::test::run_on(2, [] {
      std::atomic<bool> is_out{false};
      weft::go([&is_out] {
        is_out = true;
        while (!may_end) std::this_thread::yield();
        weft::yield();  // an orphan by now: it ends here
      });
      end_threads(50);
      EXPECT_TRUE(weft::test::eventually([&] { return is_out.load(); }));
    });
    constexpr std::uint64_t kHelpers = 2;
    const std::uint64_t nmade = weft::stats().threads_created - before + kHelpers;
    EXPECT_GE(nmade, 50u);
    EXPECT_LT(nlet_go, nmade) << "the orphan is still there";
    may_end = true;
    EXPECT_TRUE(weft::test::eventually([&] { return nlet_go >= nmade; })) << nlet_go;
    EXPECT_EQ(nlet_go, nmade);
  }
  is_lock_tried = is_naming_slow = false;
}

}  // namespace

// In place of the C library's (and not of a sanitizer's).
#if !defined(WEFT_TEST_ASAN) && !defined(WEFT_TEST_TSAN)
template <class Function>
static Function* next_one(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

extern "C" int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  static auto* const real = next_one<int(pthread_t, const char*)>("pthread_setname_np");
  if (is_naming_slow) ::usleep(2000);
  return real != nullptr ? real(thread, name) : 0;
}

extern "C" int pthread_detach(pthread_t thread) noexcept {
  static auto* const real = next_one<int(pthread_t)>("pthread_detach");
  ++nlet_go;
  if (is_lock_tried) weft::sched::locked would_hang;
  return real != nullptr ? real(thread) : 0;
}

extern "C" int pthread_join(pthread_t thread, void** result) {
  static auto* const real = next_one<int(pthread_t, void**)>("pthread_join");
  ++nlet_go;
  return real != nullptr ? real(thread, result) : 0;
}
#endif
