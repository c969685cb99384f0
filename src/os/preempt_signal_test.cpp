// preempt_signal_test.cpp: who sent a signal, who else hears of it, and which numbers are refused.
#include "os/preempt_signal.hpp"

#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>

#include "os/preempt_signal_fixture.hpp"
#include "os/signal_name.hpp"
#include "os/thread.hpp"

namespace weft::os {
namespace {

using namespace signal_test;

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

}  // namespace
}  // namespace weft::os
