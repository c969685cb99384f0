// io_signals.cpp: signals as values in a channel: Go's os/signal. What must kill the program is in tests/death/io_test.cpp.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include <weft/io.hpp>
#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

using namespace std::chrono_literals;
using weft::io::signals;
using weft::test::eventually;

namespace {

struct sigaction action_of(int number) {
  struct sigaction now{};
  ::sigaction(number, nullptr, &now);
  return now;
}
bool is_default(int number) {
  const struct sigaction now = action_of(number);
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

// To the process: any thread may get it. ThreadSanitizer puts it off until that thread makes a call it knows, which one that sleeps never does;
// there the sender gets it itself.
void send(int number) {
  if (weft::test::kIsTsan) {
    ::raise(number);
  } else {
    ::kill(::getpid(), number);
  }
}

template <class F>
std::string refusal_of(F f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST_FOR_PROCS(io_signals, a_signal_is_a_value) {
  const auto c = signals(SIGUSR1, SIGUSR2);
  send(SIGUSR1);
  EXPECT_EQ(c.recv(), SIGUSR1);
  send(SIGUSR2);
  EXPECT_EQ(c.recv(), SIGUSR2);
  EXPECT_EQ(c.try_recv(), std::nullopt);
}

TEST_FOR_PROCS(io_signals, whoever_waits_is_woken) {
  const auto c = weft::io::signal_chan({SIGUSR1});
  weft::test::comer receiver;
  auto received = weft::spawn([&] {
    receiver.comes();
    return c.recv();
  });
  ASSERT_TRUE(receiver.waits());
  send(SIGUSR1);
  EXPECT_EQ(received.join(), SIGUSR1);
}

// Nobody runs, and every thread sleeps: the signal comes all the same.
TEST_FOR_PROCS(io_signals, one_from_another_thread_wakes_an_idle_runtime) {
  const auto c = signals(SIGUSR1);
  std::thread sender([] {
    std::this_thread::sleep_for(5ms);
    send(SIGUSR1);
  });
  EXPECT_EQ(c.recv(), SIGUSR1);
  sender.join();
}

TEST_FOR_PROCS(io_signals, every_channel_gets_what_it_wants_and_nothing_else) {
  const auto one = signals(SIGUSR1);
  const auto both = signals(SIGUSR1, SIGUSR2);
  send(SIGUSR2);
  EXPECT_EQ(both.recv(), SIGUSR2);
  send(SIGUSR1);
  EXPECT_EQ(both.recv(), SIGUSR1);
  EXPECT_EQ(one.recv(), SIGUSR1);
  EXPECT_EQ(one.len(), 0U);
}

// Go's TestStress and the rule behind it: nobody waits for the receiver.
TEST_FOR_PROCS(io_signals, a_full_channel_holds_nobody_up) {
  const auto idle = signals(SIGUSR1);
  const auto busy = signals(SIGUSR1);
  for (int i = 0; i < 50; ++i) {
    send(SIGUSR1);
    EXPECT_EQ(busy.recv(), SIGUSR1);
  }
  EXPECT_EQ(idle.cap(), 16U);
  EXPECT_EQ(idle.len(), 16U);
  EXPECT_EQ(idle.recv(), SIGUSR1);
}

TEST_FOR_PROCS(io_signals, the_default_is_back_when_the_last_channel_is_gone) {
  ASSERT_TRUE(is_default(SIGUSR1));
  const bool was_default =
      is_default(SIGUSR2);  // not if it stops goroutines in another test of this process
  {
    auto a = signals(SIGUSR1);
    const auto b = signals(SIGUSR1, SIGUSR2);
    EXPECT_FALSE(is_default(SIGUSR1));
    const auto copy = a;
    a = {};
    send(SIGUSR1);
    EXPECT_EQ(copy.recv(), SIGUSR1);
  }
  EXPECT_TRUE(is_default(SIGUSR1));
  EXPECT_EQ(is_default(SIGUSR2), was_default);
}

TEST_FOR_PROCS(io_signals, a_stopped_channel_is_closed_and_the_default_is_back) {
  const auto c = signals(SIGUSR1);
  const auto other = signals(SIGUSR2);
  send(SIGUSR1);
  ASSERT_TRUE(eventually([&] { return c.len() == 1; }));
  weft::io::stop_signals(c);
  EXPECT_TRUE(is_default(SIGUSR1));
  EXPECT_FALSE(is_default(SIGUSR2));
  EXPECT_EQ(c.recv(), SIGUSR1);
  EXPECT_EQ(c.recv(), std::nullopt);
  weft::io::stop_signals(c);
  weft::io::stop_signals(weft::make_chan<int>(1));
  weft::io::stop_signals({});
  send(SIGUSR2);
  EXPECT_EQ(other.recv(), SIGUSR2);
}

// As with Go's Stop. What came back would end the program.
TEST_FOR_PROCS(io_signals, what_came_before_the_stop_is_in_the_channel) {
  const auto other = signals(SIGUSR1);
  for (int i = 0; i < weft::test::scaled(200); ++i) {
    const auto c = signals(SIGUSR1);
    ::raise(SIGUSR1);  // handled when it returns
    weft::io::stop_signals(c);
    ASSERT_EQ(c.recv(), SIGUSR1);
    ASSERT_EQ(c.recv(), std::nullopt);
    ASSERT_EQ(other.recv(), SIGUSR1);
  }
}
TEST_FOR_PROCS(io_signals, one_that_was_handled_never_comes_back) {
  for (int i = 0; i < weft::test::scaled(200); ++i) {
    const auto c = signals(SIGUSR1);
    ::raise(SIGUSR1);
  }
  EXPECT_TRUE(is_default(SIGUSR1));
}

std::atomic<int> nseen{0};
void count(int) { ++nseen; }
void count_with_info(int, siginfo_t* info, void*) {
  nseen += info->si_pid == ::getpid() ? 1 : 1000;
}

class handled {
 public:
  explicit handled(bool with_info) {
    struct sigaction mine{};
    if (with_info) {
      mine.sa_sigaction = &count_with_info;
      mine.sa_flags = SA_SIGINFO;
    } else {
      mine.sa_handler = &count;
    }
    sigaddset(&mine.sa_mask, SIGWINCH);
    ::sigaction(SIGUSR1, &mine, &before_);
    nseen = 0;
  }
  ~handled() { ::sigaction(SIGUSR1, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

TEST_FOR_PROCS(io_signals, a_handler_of_the_programs_is_called_too_and_put_back) {
  for (const bool with_info : {false, true}) {
    const handled by_program(with_info);
    {
      const auto c = signals(SIGUSR1);
      send(SIGUSR1);
      EXPECT_EQ(c.recv(), SIGUSR1);
      EXPECT_EQ(nseen, 1);
    }
    const struct sigaction now = action_of(SIGUSR1);
    if (with_info) {
      EXPECT_EQ(now.sa_sigaction, &count_with_info);
    } else {
      EXPECT_EQ(now.sa_handler, &count);
    }
    EXPECT_EQ(sigismember(&now.sa_mask, SIGWINCH), 1);
    send(SIGUSR1);
    EXPECT_TRUE(eventually([] { return nseen == 2; }));
  }
}

TEST_FOR_PROCS(io_signals, one_that_was_ignored_is_ignored_again) {
  const auto before = ::signal(SIGUSR1, SIG_IGN);
  {
    const auto c = signals(SIGUSR1);
    send(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
  }
  EXPECT_EQ(action_of(SIGUSR1).sa_handler, SIG_IGN);
  send(SIGUSR1);
  ::signal(SIGUSR1, before);
}

// Somebody puts his own over ours and keeps it when we go.
TEST_FOR_PROCS(io_signals, a_handler_that_came_later_is_left_alone) {
  auto c = signals(SIGUSR1);
  {
    const handled later(false);
    c = {};
    EXPECT_EQ(action_of(SIGUSR1).sa_handler, &count);
    send(SIGUSR1);
    EXPECT_TRUE(eventually([] { return nseen == 1; }));
  }
  // It has put ours back, which nobody wants any more: the next user finds it and puts things right.
  c = signals(SIGUSR1);
  send(SIGUSR1);
  EXPECT_EQ(c.recv(), SIGUSR1);
  c = {};
  EXPECT_TRUE(is_default(SIGUSR1));
}

TEST_FOR_PROCS(io_signals, what_cannot_be_had_is_refused_by_name) {
  EXPECT_EQ(refusal_of([] { (void)signals(SIGKILL); }),
            "weft: io::signals: SIGKILL cannot be caught by any program");
  EXPECT_NE(refusal_of([] { (void)signals(SIGINT, SIGSTOP); }).find("SIGSTOP"), std::string::npos);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    EXPECT_NE(refusal_of([=] { (void)signals(fault); }).find("faults"), std::string::npos);
  EXPECT_NE(refusal_of([] { (void)signals(SIGURG); }).find("SIGURG is the one that weft"),
            std::string::npos);
  EXPECT_NE(refusal_of([] { (void)signals(0); }).find("no signal 0"), std::string::npos);
  EXPECT_NE(refusal_of([] { (void)signals(65); }).find("no signal 65"), std::string::npos);
  EXPECT_NE(refusal_of([] { (void)signals(33); }).find("C library"), std::string::npos);
  EXPECT_NE(refusal_of([] { (void)signals({}); }).find("no signal"), std::string::npos);
  EXPECT_TRUE(is_default(SIGINT));  // nothing was done by halves
}

TEST(io_signals, weft_gives_up_its_own_when_it_uses_another) {
  const int mine = SIGRTMIN + 5;  // no other test's: its handler stays
  weft::test::run_with({.max_procs = 2, .preempt_signal = mine}, [mine] {
    EXPECT_NE(refusal_of([mine] { (void)signals(mine); }), "accepted");
    const auto c = signals(SIGURG);
    send(SIGURG);
    EXPECT_EQ(c.recv(), SIGURG);
  });
}

TEST(io_signals, without_a_runtime_there_are_none) {
  EXPECT_THROW((void)signals(SIGUSR1), weft::not_running);
}

// The forwarder of a runtime that has ended is in nobody's way.
TEST(io_signals, work_again_in_the_next_runtime) {
  weft::recv_chan<int> kept;
  for (int i = 0; i < 5; ++i) {
    weft::test::run_on(2, [&] {
      const auto c = signals(SIGUSR1);
      send(SIGUSR1);
      EXPECT_EQ(c.recv(), SIGUSR1);
      if (i % 2 == 0) kept = c;  // else the last handle goes before the runtime
    });
  }
  kept = {};
  EXPECT_TRUE(is_default(SIGUSR1));
}

// Somebody else's channel of an earlier runtime, forgotten in an abandoned goroutine, wants nothing any more.
TEST(io_signals, a_channel_of_a_former_runtime_wants_nothing) {
  weft::recv_chan<int> old;
  weft::test::run_on(2, [&] { old = signals(SIGUSR1); });
  weft::test::run_on(2, [&] {
    const auto c = signals(SIGUSR2);
    EXPECT_TRUE(is_default(SIGUSR1));
    send(SIGUSR2);
    EXPECT_EQ(c.recv(), SIGUSR2);
    EXPECT_EQ(old.len(), 0U);
  });
}

// The forwarder goes with the last channel: no goroutine is left behind.
TEST_FOR_PROCS(io_signals, no_goroutine_is_left_behind) {
  const std::size_t before = weft::num_goroutines();
  for (int i = 0; i < weft::test::scaled(100); ++i) {
    const auto c = signals(SIGUSR1);
    send(SIGUSR1);
    EXPECT_EQ(c.recv(), SIGUSR1);
  }
  EXPECT_TRUE(eventually([=] { return weft::num_goroutines() == before; }));
}

// Channels come and go in several goroutines while signals arrive: each ends, and all is as before.
TEST_FOR_PROCS(io_signals, coming_and_going_under_a_storm) {
  const bool was_default = is_default(SIGUSR2);  // as above
  const auto always = signals(SIGUSR1);          // or one that finds nobody would end the program
  std::atomic<bool> is_over{false};
  std::thread storm([&] {
    while (!is_over) {
      ::raise(
          SIGUSR1);  // not to the process: one that no thread has taken yet would outlive `always`
      std::this_thread::sleep_for(20us);
    }
  });
  weft::wait_group wg;
  std::atomic<int> nreceived{0};
  for (int i = 0; i < 4; ++i) {
    wg.go([&] {
      for (int k = 0; k < weft::test::scaled(100); ++k) {
        const auto c = signals(SIGUSR1, SIGUSR2);
        nreceived += c.recv() == SIGUSR1;
        if (k % 2 == 0) weft::io::stop_signals(c);
      }
    });
  }
  wg.wait();
  is_over = true;
  storm.join();
  EXPECT_EQ(nreceived, 4 * weft::test::scaled(100));
  EXPECT_EQ(is_default(SIGUSR2), was_default);
}

}  // namespace
