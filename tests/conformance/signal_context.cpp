// signal_context.cpp: a signal ends a context (B326), as examples/graceful_stop.cpp does it: Go's signal.NotifyContext.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstddef>
#include <optional>

#include <weft/io.hpp>
#include <weft/weft.hpp>

#include "support/for_procs.hpp"

using namespace std::chrono_literals;
using weft::test::eventually;

namespace {

// Ends with its parent, by stop(), or by a SIGUSR1. Whoever waits for the signal goes with it.
class until_signalled {
 public:
  explicit until_signalled(const weft::context& parent) : own_(weft::with_cancel(parent)) {
    weft::go([came = came_, own = own_] {
      weft::select(weft::on_recv(came,
                                 [&](std::optional<int> number) {
                                   if (number) own.cancel();
                                 }),
                   weft::on_done(own.ctx));
      weft::io::stop_signals(came);
    });
  }
  const weft::context& ctx() const { return own_.ctx; }
  void stop() const {
    own_.cancel();
    weft::io::stop_signals(came_);
  }

 private:
  weft::recv_chan<int> came_ = weft::io::signals(SIGUSR1);
  weft::cancellable_context<weft::cancel_func> own_;
};

bool is_nobodys_signal() {
  struct sigaction now{};
  ::sigaction(SIGUSR1, nullptr, &now);
  return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

bool is_cancelled(const weft::context& ctx) { return ctx.err() == weft::context_errc::canceled; }

TEST_FOR_PROCS(signal_context, a_signal_ends_it_and_all_that_was_derived) {
  const until_signalled stopped(weft::background());
  auto [child, cancel_child] = weft::with_cancel(stopped.ctx());
  weft::wait_group workers;
  for (int i = 0; i < 3; ++i) workers.go([ctx = child] { ctx.done().recv(); });
  EXPECT_FALSE(child.err());
  ::raise(SIGUSR1);
  workers.wait();
  EXPECT_TRUE(is_cancelled(stopped.ctx()));
  EXPECT_TRUE(is_cancelled(child));
  EXPECT_TRUE(eventually(is_nobodys_signal)) << "a second one would have its usual effect";
}

TEST_FOR_PROCS(signal_context, many_signals_end_it_once) {
  auto always = weft::io::signals(SIGUSR1);  // or a late one would end the program
  for (int round = 0; round < weft::test::scaled(50); ++round) {
    const until_signalled stopped(weft::background());
    std::atomic<int> nends{0};
    const auto counted = weft::after_func(stopped.ctx(), [&] { ++nends; });
    for (int i = 0; i < 5; ++i) ::raise(SIGUSR1);
    stopped.ctx().done().recv();
    ASSERT_TRUE(is_cancelled(stopped.ctx()));
    ASSERT_TRUE(eventually([&] { return nends == 1; }));
  }
  always = {};
  EXPECT_TRUE(eventually(is_nobodys_signal));
}

TEST_FOR_PROCS(signal_context, stop_ends_it_and_gives_the_signal_back) {
  ASSERT_TRUE(is_nobodys_signal());
  const std::size_t before = weft::num_goroutines();
  const until_signalled stopped(weft::background());
  EXPECT_FALSE(is_nobodys_signal());
  EXPECT_FALSE(stopped.ctx().err());
  stopped.stop();
  EXPECT_TRUE(is_cancelled(stopped.ctx()));
  EXPECT_TRUE(is_nobodys_signal()) << "at once: the next signal is for the program";
  stopped.stop();
  EXPECT_TRUE(eventually([&] { return weft::num_goroutines() == before; }));
}

TEST_FOR_PROCS(signal_context, ends_with_its_parent_and_gives_the_signal_back) {
  ASSERT_TRUE(is_nobodys_signal());
  const std::size_t before = weft::num_goroutines();
  auto [parent, cancel] = weft::with_cancel(weft::background());
  const until_signalled stopped(parent);
  cancel();
  EXPECT_TRUE(is_cancelled(stopped.ctx()));
  EXPECT_TRUE(eventually(is_nobodys_signal));
  EXPECT_TRUE(eventually([&] { return weft::num_goroutines() == before; }));
}

TEST_FOR_PROCS(signal_context, of_a_parent_that_has_ended_has_ended) {
  auto [parent, cancel] = weft::with_cancel(weft::background());
  cancel();
  const until_signalled stopped(parent);
  EXPECT_TRUE(is_cancelled(stopped.ctx()));
  EXPECT_TRUE(eventually(is_nobodys_signal));
}

// The end of the parent by its deadline is no cancellation, whatever comes afterwards.
TEST_FOR_PROCS(signal_context, says_why_it_ended_and_not_what_came_later) {
  auto always = weft::io::signals(SIGUSR1);
  auto [parent, cancel] = weft::with_timeout(weft::background(), 1ms);
  const until_signalled stopped(parent);
  stopped.ctx().done().recv();
  ::raise(SIGUSR1);
  stopped.stop();
  EXPECT_EQ(stopped.ctx().err(), weft::context_errc::deadline_exceeded);
  EXPECT_EQ(always.recv(), SIGUSR1);
  always = {};
  EXPECT_TRUE(eventually(is_nobodys_signal));
}

// stop() by several, the parent's end and a signal, all at one moment: it ends once, and everybody goes.
TEST_FOR_PROCS(signal_context_race, stop_the_parents_end_and_a_signal_at_once) {
  const std::size_t before = weft::num_goroutines();
  {
    const auto always = weft::io::signals(SIGUSR1);
    for (int round = 0; round < weft::test::scaled(100); ++round) {
      auto [parent, cancel] = weft::with_cancel(weft::background());
      const until_signalled stopped(parent);
      std::atomic<int> nends{0};
      const auto counted = weft::after_func(stopped.ctx(), [&] { ++nends; });
      std::atomic<bool> begin{false};
      weft::wait_group all;
      const auto at_once = [&](auto f) {
        all.go([&begin, f] {
          while (!begin) weft::yield();
          f();
        });
      };
      for (int i = 0; i < 4; ++i) at_once([&] { stopped.stop(); });
      at_once([&cancel = cancel] { cancel(); });
      at_once([] { ::raise(SIGUSR1); });
      begin = true;
      all.wait();
      ASSERT_TRUE(is_cancelled(stopped.ctx()));
      ASSERT_TRUE(eventually([&] { return nends == 1; }));
      ASSERT_EQ(always.recv(), SIGUSR1) << "each listener gets his own";
    }
  }
  EXPECT_TRUE(eventually(is_nobodys_signal));
  EXPECT_TRUE(eventually([&] { return weft::num_goroutines() == before; }));
}

}  // namespace
