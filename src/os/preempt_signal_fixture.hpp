// preempt_signal_fixture.hpp: what the tests of the preemption signal share: handlers that count, a clean table of actions, senders.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/preempt_signal.hpp"
#include "os/thread.hpp"

extern "C" [[gnu::weak]] void __tsan_init();

namespace weft::os::signal_test {

inline bool has_tsan() { return __tsan_init != nullptr; }

// What the handlers leave behind.
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
inline tally* counts;  // of the test that runs

inline std::uint64_t mask_of_this_thread() {
  std::uint64_t mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &mask, sizeof mask);
  return mask;
}

inline void note(const interrupted& at) {
  counts->pc = at.pc;
  counts->frame = __builtin_frame_address(0);
  counts->mask = mask_of_this_thread();
  counts->was_chained_last = false;
  if (at.was_call_cut_short) ++counts->ncut_short;
  if (at.is_ours) counts->cookie = at.cookie;
  ++(at.is_ours ? counts->nours : counts->nforeign);  // last: somebody waits for it
  if (counts->spoils_errno) errno = 4711;
}

inline void program_plain(int) {
  counts->was_chained_last = true;
  if (counts->spoils_errno) errno = 4712;
  ++counts->nplain;
}
inline void program_with_info(int, siginfo_t* info, void*) {
  counts->was_chained_last = true;
  counts->last_value = info->si_value.sival_int;
  ++counts->nwith_info;
}

inline void set_action(int number, void (*plain)(int)) {
  struct sigaction action{};
  action.sa_handler = plain;
  ASSERT_EQ(::sigaction(number, &action, nullptr), 0);
}
inline void set_action(int number, void (*with_info)(int, siginfo_t*, void*)) {
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

inline bool send_to_self(std::uint32_t cookie = 1, int number = SIGURG) {
  return send_preempt_signal(process_id(), thread_id(), number, cookie);
}
inline void send_foreign_to_self(int number = SIGURG) {
  ::tgkill(process_id(), thread_id(), number);
}

// What this thread has sent itself is there when the call returns; ThreadSanitizer waits for the next blocking call.
inline void let_it_come() { ::usleep(1); }

inline void block(int how, int number) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::pthread_sigmask(how, &one, nullptr);
}

}  // namespace weft::os::signal_test
