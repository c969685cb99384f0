#include "os/preempt_signal.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "os/futex.hpp"
#include "os/signal.hpp"
#include "os/signal_name.hpp"
#include "os/thread.hpp"
#include "os/thread_watch.hpp"

extern "C" [[gnu::weak]] void __tsan_init();

namespace weft::os {
namespace {

bool has_tsan() { return __tsan_init != nullptr; }

// --- what the handlers leave behind ---

struct tally {
  std::atomic<int> nours{0};
  std::atomic<int> nforeign{0};
  std::atomic<int> ncut_short{0};
  std::atomic<std::uint32_t> cookie{0};
  std::atomic<const void*> pc{nullptr};
  std::atomic<const void*> frame{nullptr};
  std::atomic<std::uint64_t> mask{0};
  std::atomic<int> nplain{0};  // calls of the program's handlers
  std::atomic<int> nwith_info{0};
  std::atomic<int> last_value{0};  // what with_info was sent
  std::atomic<bool> was_chained_last{false};
  std::atomic<bool> spoils_errno{false};  // whether the handlers do, above and below ours

  int nall() const { return nours + nforeign; }
};
tally* counts;  // of the test that runs

std::uint64_t mask_of_this_thread() {
  std::uint64_t mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask, sizeof mask);
  return mask;
}

void note(const interrupted& at) {
  counts->pc = at.pc;
  counts->frame = __builtin_frame_address(0);
  counts->mask = mask_of_this_thread();
  counts->was_chained_last = false;
  if (at.was_call_cut_short) ++counts->ncut_short;
  if (at.is_ours) counts->cookie = at.cookie;
  ++(at.is_ours ? counts->nours : counts->nforeign);  // last: somebody waits for it
  if (counts->spoils_errno) errno = 4711;
}

void program_plain(int) {
  counts->was_chained_last = true;
  if (counts->spoils_errno) errno = 4712;
  ++counts->nplain;
}
void program_with_info(int, siginfo_t* info, void*) {
  counts->was_chained_last = true;
  counts->last_value = info->si_value.sival_int;
  ++counts->nwith_info;
}

void set_action(int number, void (*plain)(int)) {
  struct sigaction action{};
  action.sa_handler = plain;
  ASSERT_EQ(::sigaction(number, &action, nullptr), 0);
}
void set_action(int number, void (*with_info)(int, siginfo_t*, void*)) {
  struct sigaction action{};
  action.sa_sigaction = with_info;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(::sigaction(number, &action, nullptr), 0);
}

class preempt_signal : public testing::Test {
 protected:
  void SetUp() override {
    counts = &counts_;
    set_action(SIGURG, SIG_DFL);  // as a new program finds it, also when the test is repeated
    set_action(SIGUSR1, SIG_DFL);
  }
  void TearDown() override {
    set_action(SIGURG, SIG_DFL);
    set_action(SIGUSR1, SIG_DFL);
  }
  void install(int number = SIGURG) {
    ASSERT_EQ(install_preempt_handler(number, &note), signal_verdict::accepted);
  }
  tally counts_;
};

bool send_to_self(std::uint32_t cookie = 1, int number = SIGURG) {
  return send_preempt_signal(process_id(), thread_id(), number, cookie);
}
void send_foreign_to_self(int number = SIGURG) { ::tgkill(process_id(), thread_id(), number); }

// What this thread has sent itself is there when the call returns; ThreadSanitizer waits for the next blocking call.
void let_it_come() { ::usleep(1); }

void block(int how, int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::pthread_sigmask(how, &one, nullptr);
}

// --- own and foreign ---

TEST_F(preempt_signal, ours_is_recognised_and_carries_its_cookie) {
  install();
  ASSERT_TRUE(send_to_self(0xfeed'beefU));
  let_it_come();
  EXPECT_EQ(counts_.nours, 1);
  EXPECT_EQ(counts_.nforeign, 0);
  EXPECT_EQ(counts_.cookie, 0xfeed'beefU);
  EXPECT_NE(counts_.pc, nullptr);
}

TEST_F(preempt_signal, a_foreign_one_is_told_as_such_however_it_was_sent) {
  install();
  send_foreign_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 1);
  ::kill(::getpid(), SIGURG);
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 2);
  sigval value{};
  value.sival_ptr = reinterpret_cast<void*>(std::uintptr_t{1});  // what send_to_self() sends
  ::sigqueue(::getpid(), SIGURG, value);
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 3);
  ::raise(SIGURG);
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 4);
  EXPECT_EQ(counts_.nours, 0);
}

TEST_F(preempt_signal, one_sent_while_a_foreign_one_is_pending_is_not_lost) {
  install();
  set_action(SIGURG, &program_plain);
  install();
  block(SIG_BLOCK, SIGURG);
  send_foreign_to_self();
  EXPECT_TRUE(send_to_self()) << "the kernel drops it without a word";
  block(SIG_UNBLOCK, SIGURG);
  let_it_come();
  EXPECT_EQ(counts_.nall(), 1) << "the handler runs, and can look at its own flag";
  EXPECT_EQ(counts_.nplain, 1);
}

TEST_F(preempt_signal, real_time_signals_do_as_well) {
  const int number = SIGRTMIN + 3;
  install(number);
  ASSERT_TRUE(send_to_self(5, number));
  let_it_come();
  EXPECT_EQ(counts_.nours, 1);
  EXPECT_EQ(counts_.cookie, 5U);
}

TEST_F(preempt_signal, to_nobody_is_not_sent) {
  install();
  errno = 77;
  EXPECT_FALSE(send_preempt_signal(process_id(), 1 << 30, SIGURG, 1));
  EXPECT_FALSE(send_preempt_signal(process_id(), thread_id(), 65, 1));
  EXPECT_EQ(errno, 77);
}

TEST_F(preempt_signal, arrives_as_a_foreign_one_where_a_sandbox_forbids_the_call) {
  if (has_tsan()) GTEST_SKIP() << "ThreadSanitizer's own thread is missing in a forked child";
  install();
  constexpr int kCameForeign = 3;
  constexpr int kNoSandbox = 4;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_tgsigqueueinfo, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{4, filter};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
      ::_exit(kNoSandbox);
    if (!send_to_self()) ::_exit(1);
    ::_exit(counts->nforeign == 1 ? kCameForeign : 2);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoSandbox) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(WEXITSTATUS(status), kCameForeign);
}

// --- who was there before ---

TEST_F(preempt_signal, foreign_ones_go_on_to_a_plain_handler) {
  set_action(SIGURG, &program_plain);
  install();
  send_foreign_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 1);
  EXPECT_EQ(counts_.nplain, 1);
  EXPECT_TRUE(counts_.was_chained_last);
  send_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nours, 1);
  EXPECT_EQ(counts_.nplain, 1) << "ours do not";
}

TEST_F(preempt_signal, foreign_ones_go_on_to_a_handler_that_wants_to_know_more) {
  set_action(SIGURG, &program_with_info);
  install();
  sigval value{};
  value.sival_int = 99;
  ::sigqueue(::getpid(), SIGURG, value);
  let_it_come();
  EXPECT_EQ(counts_.nwith_info, 1);
  EXPECT_EQ(counts_.last_value, 99);
  EXPECT_TRUE(counts_.was_chained_last);
  send_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nours, 1);
  EXPECT_EQ(counts_.nwith_info, 1);
}

TEST_F(preempt_signal, without_a_handler_before_foreign_ones_end_here) {
  install(SIGUSR1);  // its default action is to end the process
  send_foreign_to_self(SIGUSR1);
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 1);
}

TEST_F(preempt_signal, installing_again_changes_nothing) {
  set_action(SIGURG, &program_plain);
  install();
  install();
  send_foreign_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 1) << "it does not chain to itself";
  EXPECT_EQ(counts_.nplain, 1);
}

TEST_F(preempt_signal, a_handler_installed_over_ours_is_noticed) {
  install();
  EXPECT_TRUE(is_preempt_handler_installed());
  set_action(SIGURG, &program_plain);
  errno = 77;
  EXPECT_FALSE(is_preempt_handler_installed());
  EXPECT_EQ(errno, 77);
  send_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nall(), 0);
  EXPECT_EQ(counts_.nplain, 1);

  install();  // the next runtime stands over that one
  EXPECT_TRUE(is_preempt_handler_installed());
  send_foreign_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 1);
  EXPECT_EQ(counts_.nplain, 2);
}

struct sigaction under_program;
void program_that_chains(int number, siginfo_t* info, void* context) {
  ++counts->nwith_info;
  under_program.sa_sigaction(number, info, context);
}

TEST_F(preempt_signal, a_circle_of_chained_handlers_ends) {
  install();
  struct sigaction action{};
  action.sa_sigaction = &program_that_chains;
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(::sigaction(SIGURG, &action, &under_program), 0);
  send_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nours, 1) << "ours is still reached, through the program's";

  install();  // now on top and below
  send_foreign_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nforeign, 1);
  EXPECT_EQ(counts_.nwith_info, 2);
}

sigjmp_buf way_out;
void program_that_jumps(int) {
  ++counts->nplain;
  siglongjmp(way_out, 1);
}

TEST_F(preempt_signal, a_chained_handler_may_leave_by_longjmp) {
  if (has_tsan()) GTEST_SKIP() << "ThreadSanitizer believes itself in the handler for ever";
  set_action(SIGURG, &program_that_jumps);
  install();
  for (int i = 1; i <= 3; ++i) {
    if (sigsetjmp(way_out, 1) == 0) send_foreign_to_self();
    EXPECT_EQ(counts_.nforeign, i);
    EXPECT_EQ(counts_.nplain, i);
  }
}

TEST_F(preempt_signal, a_later_runtime_may_take_another_number) {
  set_action(SIGUSR1, &program_plain);
  install(SIGUSR1);
  install(SIGURG);
  EXPECT_TRUE(is_preempt_handler_installed());
  send_to_self(7, SIGURG);
  let_it_come();
  EXPECT_EQ(counts_.nours, 1);
  send_foreign_to_self(SIGUSR1);
  let_it_come();
  EXPECT_EQ(counts_.nplain, 1) << "the former number is the program's again";
  EXPECT_EQ(counts_.nforeign, 0);
  send_to_self(7, SIGUSR1);  // one that was still under way
  let_it_come();
  EXPECT_EQ(counts_.nours, 1);
  EXPECT_EQ(counts_.nplain, 1);
}

// --- refusals ---

TEST_F(preempt_signal, what_is_of_no_use_is_refused_with_a_reason) {
  const auto verdict = [](int number) { return install_preempt_handler(number, &note); };
  for (const int number : {-1, 0, 65, 1'000'000})
    EXPECT_EQ(verdict(number), signal_verdict::out_of_range) << number;
  for (const int number : {SIGKILL, SIGSTOP})
    EXPECT_EQ(verdict(number), signal_verdict::uncatchable) << number;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    EXPECT_EQ(verdict(number), signal_verdict::synchronous) << number;
  for (const int number : {32, 33}) EXPECT_EQ(verdict(number), signal_verdict::reserved) << number;

  set_action(SIGURG, SIG_IGN);
  EXPECT_EQ(verdict(SIGURG), signal_verdict::ignored);
  struct sigaction now{};
  ::sigaction(SIGURG, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN) << "left as it was";
  set_action(SIGURG, SIG_DFL);

  block(SIG_BLOCK, SIGURG);
  EXPECT_EQ(verdict(SIGURG), signal_verdict::blocked);
  block(SIG_UNBLOCK, SIGURG);
  ::sigaction(SIGURG, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  EXPECT_EQ(verdict(SIGURG), signal_verdict::accepted);
}

TEST_F(preempt_signal, a_refusal_leaves_the_one_before_in_force) {
  install();
  EXPECT_EQ(install_preempt_handler(SIGKILL, nullptr), signal_verdict::uncatchable);
  EXPECT_TRUE(is_preempt_handler_installed());
  send_to_self();
  let_it_come();
  EXPECT_EQ(counts_.nours, 1);
}

TEST_F(preempt_signal, every_verdict_can_be_printed) {
  for (int v = 0; v <= static_cast<int>(signal_verdict::refused); ++v) {
    const char* const words = describe(static_cast<signal_verdict>(v));
    EXPECT_GT(std::strlen(words), 5U) << v;
    for (int w = 0; w < v; ++w) EXPECT_STRNE(words, describe(static_cast<signal_verdict>(w)));
  }
  EXPECT_EQ(signal_number("URG"), default_preempt_signal());
}

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
