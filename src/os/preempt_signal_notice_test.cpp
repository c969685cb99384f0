// preempt_signal_notice_test.cpp: what the interrupted program notices of the preemption signal: nothing, but for calls that are cut short.
#include "os/preempt_signal.hpp"

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "os/futex.hpp"
#include "os/preempt_signal_fixture.hpp"
#include "os/signal.hpp"
#include "os/thread.hpp"
#include "os/thread_watch.hpp"

namespace weft::os {
namespace {

using namespace signal_test;

// --- what the interrupted program notices: nothing ---

TEST_F(preempt_signal, errno_is_kept) {
  counts_.spoils_errno = true;
  for (const auto before : {SIG_DFL, &program_plain}) {
    set_action(SIGURG, before);
    install();
    const int wanted = counts_.nall() + 2;
    errno = 77;
    send_to_self();
    let_it_come();
    EXPECT_EQ(errno, 77);
    send_foreign_to_self();
    let_it_come();
    EXPECT_EQ(errno, 77);
    EXPECT_EQ(counts_.nall(), wanted) << "the handlers, which set errno, did run";
  }
}

TEST_F(preempt_signal, runs_on_the_alternate_stack) {
  install();
  std::thread([this] {
    void* memory = nullptr;
    use_alternate_stack(memory);
    ASSERT_NE(memory, nullptr);
    send_to_self();
    let_it_come();
    leave_alternate_stack(memory);
    ASSERT_EQ(counts_.nours, 1);
    const auto frame = reinterpret_cast<std::uintptr_t>(counts_.frame.load());
    const auto low = reinterpret_cast<std::uintptr_t>(memory);
    if (has_tsan()) return;  // it runs handlers from the call that comes next, on that one's stack
    EXPECT_GT(frame, low);
    EXPECT_LT(frame, low + kAlternateStackBytes);
  }).join();
}

TEST_F(preempt_signal, all_but_faults_and_the_c_librarys_own_are_blocked_inside) {
  if (has_tsan()) GTEST_SKIP() << "ThreadSanitizer has a mask of its own";
  const std::uint64_t before = mask_of_this_thread();
  install();
  send_to_self();
  ASSERT_EQ(counts_.nours, 1);
  const auto is_blocked = [mask = counts_.mask.load()](int number) {
    return (mask >> (number - 1) & 1) != 0;
  };
  for (int number = 1; number <= 62; ++number) {  // emulators keep the last two for themselves
    if (number == SIGKILL || number == SIGSTOP) continue;  // nothing can block them
    const bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                          number == SIGILL || number == SIGTRAP || number == SIGSYS ||
                          number == SIGABRT;
    const bool is_the_c_librarys = number >= 32 && number < SIGRTMIN;
    EXPECT_EQ(is_blocked(number), !is_fault && !is_the_c_librarys) << number;
  }
  EXPECT_EQ(mask_of_this_thread(), before);
}

// --- system calls of the interrupted thread ---

constexpr std::uint32_t kFirst = 1;
constexpr std::uint32_t kEcho = 2;
void note_and_echo(const interrupted& at) {
  if (at.cookie == kFirst) send_to_self(kEcho);  // comes when this one returns, at the same place
  note(at);
}

TEST_F(preempt_signal, each_call_that_is_cut_short_is_told_once) {
  ASSERT_EQ(install_preempt_handler(SIGURG, &note_and_echo), signal_verdict::accepted);
  constexpr int kCalls = 20;
  std::atomic<int> tid{0};
  std::atomic<int> ninterrupted{0};
  std::thread caller([&] {
    tid = thread_id();
    const timespec hour{3600, 0};
    while (ninterrupted < kCalls) {  // the same call, from the same place
      if (::nanosleep(&hour, nullptr) != 0 && errno == EINTR) ++ninterrupted;
    }
  });
  while (tid == 0) std::this_thread::yield();
  thread_watch watch;
  watch.open(tid);
  for (int nsent = 0; ninterrupted < kCalls; std::this_thread::yield()) {
    if (!watch.is_asleep()) continue;
    send_preempt_signal(process_id(), tid, SIGURG, kFirst);
    ++nsent;
    while (counts_.nours < 2 * nsent) ::usleep(10);  // it and its echo
  }
  caller.join();
  EXPECT_EQ(counts_.ncut_short, ninterrupted);
}

// The signal waits for a call that lets it in: each is cut short before it has slept, again and again at the same place.
TEST_F(preempt_signal, a_call_that_is_cut_short_at_its_entrance_is_told_too) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "only x86-64 has a register to leave a mark in";
#endif
  if (has_tsan()) GTEST_SKIP() << "ThreadSanitizer runs handlers after the call";
  install();
  sigset_t none, urgent;
  sigemptyset(&none);
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &urgent, nullptr), 0);
  constexpr int kCalls = 20;
  int ncut = 0;
  for (int i = 0; i < kCalls; ++i) {
    send_to_self();
    if (::ppoll(nullptr, 0, nullptr, &none) == -1 && errno == EINTR) ++ncut;
  }
  ASSERT_EQ(::pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr), 0);
  EXPECT_EQ(ncut, kCalls);
  EXPECT_EQ(counts_.ncut_short, kCalls);
}

TEST_F(preempt_signal, a_call_that_is_restarted_is_not_cut_short) {
  install();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::atomic<int> tid{0};
  ssize_t result = -1;
  std::atomic<bool> is_over{false};
  std::thread caller([&] {
    tid = thread_id();
    char c;
    result = ::read(ends[0], &c, 1);
    is_over = true;
  });
  while (tid == 0) std::this_thread::yield();
  thread_watch watch;
  watch.open(tid);
  for (int i = 0; i < 10; ++i) {
    while (!watch.is_asleep() && !is_over) std::this_thread::yield();
    if (is_over) break;
    send_preempt_signal(process_id(), tid, SIGURG, 1);
    while (counts_.nours == i) ::usleep(100);
  }
  EXPECT_EQ(::write(ends[1], "x", 1), 1);
  caller.join();
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(result, 1);
  EXPECT_EQ(counts_.nours, 10);
  EXPECT_EQ(counts_.ncut_short, 0);
}

TEST_F(preempt_signal, a_number_that_looks_like_eintr_is_not_taken_for_a_call) {
  if (has_tsan()) GTEST_SKIP() << "ThreadSanitizer puts signals off in loops without calls";
  install();
  std::atomic<int> tid{0};
  std::thread spinner([&] {
    tid = thread_id();
    while (counts->nours < 20) {
      // A loop with -EINTR where a system call leaves its result, but without a system call.
#if defined(__x86_64__)
      std::uint64_t n = 2'000'000;
      asm volatile("1: dec %0\n jnz 1b" : "+r"(n) : "a"(std::int64_t{-EINTR}) : "cc");
#elif defined(__aarch64__)
      register std::int64_t result asm("x0") = -EINTR;
      std::uint64_t n = 2'000'000;
      asm volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(n) : "r"(result) : "cc");
#endif
    }
  });
  while (tid == 0) std::this_thread::yield();
  while (counts->nours < 20) {
    send_preempt_signal(process_id(), tid, SIGURG, 1);
    ::usleep(500);
  }
  spinner.join();
  EXPECT_EQ(counts_.ncut_short, 0);
}

#if defined(__x86_64__)
TEST_F(preempt_signal, code_at_the_beginning_of_a_mapping_is_interrupted_safely) {
  if (has_tsan()) GTEST_SKIP() << "ThreadSanitizer puts signals off in loops without calls";
  install();
  // Nothing to read before the code: a look at the instruction before it would be a fault.
  constexpr std::size_t kPage = 4096;
  auto* const pages = static_cast<unsigned char*>(
      ::mmap(nullptr, 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  unsigned char* const code = pages + kPage;
  ASSERT_EQ(::mprotect(code, kPage, PROT_READ | PROT_WRITE), 0);
  constexpr unsigned char kFill[] = {0xf3, 0xaa, 0xc3};  // rep stosb; ret: stays at its first byte
  std::memcpy(code, kFill, sizeof kFill);
  ASSERT_EQ(::mprotect(code, kPage, PROT_READ | PROT_EXEC), 0);

  std::atomic<int> tid{0};
  std::atomic<int> nat_start{0};
  std::thread spinner([&] {
    tid = thread_id();
    std::vector<char> filled(std::size_t{1} << 20);
    while (nat_start < 3) {
      void* to = filled.data();
      std::size_t n = filled.size();
      asm volatile("sub $128, %%rsp\n call *%2\n add $128, %%rsp"
                   : "+D"(to), "+c"(n)
                   : "r"(code), "a"(std::int64_t{-EINTR})
                   : "cc", "memory");
    }
  });
  while (tid == 0) std::this_thread::yield();
  while (nat_start < 3) {
    const int before = counts_.nours;
    send_preempt_signal(process_id(), tid, SIGURG, 1);
    while (counts_.nours == before) ::usleep(100);
    if (counts_.pc == code) ++nat_start;
  }
  spinner.join();
  ::munmap(pages, 2 * kPage);
  EXPECT_EQ(counts_.ncut_short, 0);
}
#endif

// --- a thread that stays in the handler, as a stopped goroutine does ---

std::atomic<std::uint32_t> gate{0};
void stay(const interrupted&) {
  ++counts->nours;
  while (gate == 0) futex_wait(gate, 0);
}

TEST_F(preempt_signal, setuid_goes_through_while_a_thread_stays_in_the_handler) {
  if (has_tsan()) GTEST_SKIP() << "ThreadSanitizer has a mask of its own in handlers";
  gate = 0;
  ASSERT_EQ(install_preempt_handler(SIGURG, &stay), signal_verdict::accepted);
  std::atomic<int> tid{0};
  std::thread stopped([&] {
    tid = thread_id();
    while (gate == 0) {
    }
  });
  while (tid == 0) std::this_thread::yield();
  send_preempt_signal(process_id(), tid, SIGURG, 1);
  while (counts_.nours == 0) ::usleep(100);
  EXPECT_EQ(::setuid(::getuid()), 0) << "it asks every thread by a signal, and waits";
  gate = 1;
  futex_wake(gate, 1);
  stopped.join();
}

// --- many at once ---

TEST_F(preempt_signal, signals_from_all_sides_are_all_told_apart) {
  set_action(SIGURG, &program_plain);
  install();
  std::atomic<int> tid{0};
  std::atomic<bool> is_over{false};
  std::thread target([&] {
    tid = thread_id();
    while (!is_over) ::usleep(10);
  });
  while (tid == 0) std::this_thread::yield();
  constexpr int kEach = 500;
  std::thread foreign([&] {
    for (int i = 0; i < kEach; ++i) {
      ::tgkill(process_id(), tid, SIGURG);
      ::usleep(20);
    }
  });
  for (int i = 0; i < kEach; ++i) {
    EXPECT_TRUE(send_preempt_signal(process_id(), tid, SIGURG, 9));
    ::usleep(20);
  }
  foreign.join();
  is_over = true;
  target.join();
  EXPECT_GT(counts_.nours, 0);
  EXPECT_GT(counts_.nforeign, 0);
  EXPECT_EQ(counts_.nplain, counts_.nforeign) << "each foreign one, and no other, went on";
  EXPECT_LE(counts_.nours, kEach);
  EXPECT_LE(counts_.nforeign, kEach);
}

}  // namespace
}  // namespace weft::os
