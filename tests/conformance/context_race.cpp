// context_race.cpp: contexts that end from several sides at once (B317, B319, B320), and those that end for plain threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/meeting.hpp"

namespace {

using namespace std::chrono_literals;
using weft::background;
using weft::context;
using weft::context_errc;
using weft::with_cancel;

// B317
TEST_FOR_PROCS(context_race, a_hundred_are_cancelled_in_any_order) {
  std::mt19937_64 random(weft::test::seed());
  auto [root, cancel_root] = with_cancel(background());
  std::vector<context> all{root};
  std::vector<weft::cancel_func> cancels;
  while (all.size() < 100) {
    auto [ctx, cancel] = with_cancel(all[random() % all.size()]);
    all.push_back(ctx);
    cancels.push_back(cancel);
  }
  std::shuffle(cancels.begin(), cancels.end(), random);
  weft::wait_group wg;
  for (const auto& cancel : cancels) wg.go([cancel] { cancel(); });
  for (std::size_t i = 1; i < all.size(); ++i) wg.go([ctx = all[i]] { ctx.done().recv(); });
  wg.wait();
  EXPECT_FALSE(root.err());
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].err(), context_errc::canceled);
}

// When any cancel() returns, everything below has ended, whoever did it. So many that the way down takes a while.
TEST_FOR_PROCS(context_race, all_below_has_ended_when_a_cancel_returns) {
  for (int round = 0; round < weft::test::scaled(30); ++round) {
    auto [root, cancel_root] = with_cancel(background());
    auto [middle, cancel_middle] = with_cancel(root);
    std::vector<context> leaves;
    for (int i = 0; i < 3000; ++i) leaves.push_back(with_cancel(middle).ctx);
    std::atomic<int> nopen{0};
    std::atomic<bool> begin{false};
    weft::wait_group wg;
    for (const weft::cancel_func& cancel : {cancel_root, cancel_middle}) {
      wg.go([&, cancel] {
        while (!begin) weft::yield();
        cancel();
        for (const context& leaf : leaves) nopen += leaf.err() ? 0 : 1;
      });
    }
    wg.go([&, middle = middle] {
      begin = true;
      while (!middle.err()) weft::yield();
      cancel_middle();  // somebody is on the way down
      for (const context& leaf : leaves) nopen += leaf.err() ? 0 : 1;
    });
    wg.wait();
    ASSERT_EQ(nopen, 0);
  }
}

// B319
TEST_FOR_PROCS(context_race, a_child_is_made_while_its_parent_ends) {
  for (int round = 0; round < weft::test::scaled(500); ++round) {
    auto [parent, cancel] = with_cancel(background());
    auto makes = weft::spawn([parent = parent] {
      std::vector<context> children;
      for (int i = 0; i < 10; ++i) children.push_back(with_cancel(parent).ctx);
      return children;
    });
    cancel();
    for (const context& child : makes.join()) {
      child.done().recv();
      ASSERT_EQ(child.err(), context_errc::canceled);
    }
  }
}

// B320: the error is there when the channel is closed, and the channel is closed when the error is there.
TEST_FOR_PROCS(context_race, the_error_and_the_channel_agree) {
  for (int round = 0; round < weft::test::scaled(300); ++round) {
    auto [ctx, cancel] = weft::with_cause(background());
    auto by_error = weft::spawn([ctx = ctx] {
      while (!ctx.err()) weft::yield();
      return ctx.done().closed() && ctx.cause() != nullptr;
    });
    auto by_channel = weft::spawn([ctx = ctx] {
      ctx.done().recv();
      return ctx.err() == context_errc::canceled && ctx.cause() != nullptr;
    });
    weft::wait_group wg;
    for (int i = 0; i < 3; ++i)
      wg.go([cancel = cancel] { cancel(std::runtime_error("one of them")); });
    ASSERT_TRUE(by_error.join());
    ASSERT_TRUE(by_channel.join());
    wg.wait();
  }
}

// Children go while their parent looks at them.
TEST_FOR_PROCS(context_race, children_go_while_their_parent_ends) {
  for (int round = 0; round < weft::test::scaled(60); ++round) {
    auto [parent, cancel] = with_cancel(background());
    std::vector<context> children;
    for (int i = 0; i < 1000; ++i) children.push_back(with_cancel(parent).ctx);
    weft::test::meeting both(2);
    weft::wait_group wg;
    wg.go([&] {
      both.comes();
      if (round % 2 == 0) {
        children.clear();
      } else {
        while (!children.empty()) children.pop_back();
      }
    });
    wg.go([&, cancel = cancel] {
      both.comes();
      cancel();
    });
    wg.wait();
    ASSERT_TRUE(parent.err());
  }
}

TEST_FOR_PROCS(context_race, a_deadline_and_a_cancel_at_once) {
  for (int round = 0; round < weft::test::scaled(200); ++round) {
    auto [ctx, cancel] = weft::with_timeout(background(), 50us);
    auto [child, cancel_child] = with_cancel(ctx);
    weft::sleep_for(std::chrono::microseconds(round % 100));
    cancel();
    ASSERT_TRUE(ctx.err());
    ASSERT_EQ(child.err(), ctx.err());
  }
}

// Either the function is called, or stop() has prevented it.
TEST_FOR_PROCS(context_race, functions_are_stopped_while_the_context_ends) {
  constexpr std::size_t kCalls = 200;
  for (int round = 0; round < weft::test::scaled(50); ++round) {
    auto [ctx, cancel] = with_cancel(background());
    std::vector<std::atomic<int>> ncalls(kCalls);
    std::vector<weft::context_stop> stops;
    for (std::atomic<int>& each : ncalls) stops.push_back(weft::after_func(ctx, [&] { ++each; }));
    std::vector<context> others;  // so that the way down takes a while
    for (int i = 0; i < 1000; ++i) others.push_back(with_cancel(ctx).ctx);
    weft::test::meeting both(2);
    auto stopped = weft::spawn([&] {
      both.comes();
      std::vector<bool> was;
      for (const weft::context_stop& stop : stops) was.push_back(stop());
      return was;
    });
    both.comes();
    cancel();
    const std::vector<bool> was_stopped = stopped.join();
    for (std::size_t i = 0; i < kCalls; ++i) {
      ASSERT_TRUE(weft::test::eventually([&] { return was_stopped[i] || ncalls[i] == 1; }));
    }
    weft::yield();
    for (std::size_t i = 0; i < kCalls; ++i) ASSERT_EQ(ncalls[i], was_stopped[i] ? 0 : 1);
  }
}

// What is given back at the moment of the end is neither lost nor doubled.
TEST_FOR_PROCS(context_race, a_semaphore_is_given_back_while_the_context_ends) {
  weft::semaphore s(3);
  for (int round = 0; round < weft::test::scaled(300); ++round) {
    auto [ctx, cancel] = with_cancel(background());
    s.acquire(3);
    weft::wait_group wg;
    for (std::int64_t n : {1, 2, 3}) {
      wg.go([&, n, ctx = ctx] {
        if (s.acquire(n, ctx)) s.release(n);
      });
    }
    wg.go([cancel = cancel] { cancel(); });
    weft::yield();
    s.release(3);
    wg.wait();
    ASSERT_TRUE(s.try_acquire(3));
    s.release(3);
  }
}

TEST_FOR_PROCS(context_race, plain_threads_wait_and_cancel) {
  auto [ctx, cancel] = with_cancel(background());
  weft::semaphore taken(1);
  taken.acquire();
  std::atomic<int> ncame{0};
  std::atomic<int> nended{0};
  std::vector<std::jthread> threads;
  const auto start = [&](auto wait) {
    threads.emplace_back([&, wait] {
      ++ncame;
      EXPECT_FALSE(wait());
      ++nended;
    });
  };
  start([ctx = ctx] { return ctx.done().recv(); });
  start([ctx = ctx] { return weft::make_chan<int>().recv(ctx).has_value(); });
  start([ctx = ctx] { return weft::make_chan<int>().send(1, ctx); });
  start([&, ctx = ctx] { return taken.acquire(ctx); });
  ASSERT_TRUE(weft::test::eventually([&] { return ncame == 4; }));
  EXPECT_EQ(nended, 0);
  std::jthread([cancel = cancel] { cancel(); }).join();
  EXPECT_TRUE(weft::test::eventually([&] { return nended == 4; }));
}

TEST_FOR_PROCS(context_race, a_stop_token_follows_a_context) {
  auto [parent, cancel] = with_cancel(background());
  auto child = std::make_unique<context>(with_cancel(parent).ctx);
  const std::stop_token token = child->stop_token();
  EXPECT_TRUE(token == child->stop_token());
  std::atomic<int> ncalls{0};
  const std::stop_callback callback(token, [&] { ++ncalls; });
  child.reset();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  cancel();
  EXPECT_TRUE(token.stop_requested())
      << "it learns of an end above, though nobody else has the context";
  EXPECT_EQ(ncalls, 1);
  EXPECT_TRUE(with_cancel(parent).ctx.stop_token().stop_requested()) << "of one that has ended";
}

TEST_FOR_PROCS(context_race, a_context_follows_a_stop_token) {
  std::stop_source source;
  const context ctx =
      weft::with_stop_token(weft::with_value(background(), 1, 2), source.get_token());
  const context child = with_cancel(ctx).ctx;
  EXPECT_FALSE(ctx.err());
  EXPECT_EQ(*ctx.value<int>(1), 2);
  source.request_stop();
  EXPECT_EQ(ctx.err(), context_errc::canceled);
  EXPECT_EQ(child.err(), context_errc::canceled);
  EXPECT_TRUE(weft::with_stop_token(background(), source.get_token()).err()) << "stopped before";
  auto [parent, cancel] = with_cancel(background());
  const context both = weft::with_stop_token(parent, std::stop_source().get_token());
  cancel();
  EXPECT_TRUE(both.err());
}

// The callback runs in a goroutine that may go on on another thread, and may drop the last share of its context.
TEST_FOR_PROCS(context_race, a_context_goes_while_its_stop_token_is_asked) {
  for (int round = 0; round < weft::test::scaled(200); ++round) {
    std::stop_source source;
    auto ctx = std::make_unique<context>(weft::with_stop_token(background(), source.get_token()));
    const weft::recv_chan<void> done = round % 2 == 0 ? ctx->done() : weft::recv_chan<void>();
    weft::wait_group wg;
    wg.go([&] { source.request_stop(); });
    wg.go([&] { ctx.reset(); });
    wg.wait();
    if (done) {
      done.recv();
      ASSERT_TRUE(done.closed());
    }
  }
}

// The same for certain, in forced migration: the callback drops the last handle, and goes on on another thread.
TEST_FOR_PROCS(context_race, a_context_goes_in_the_callback_that_ends_it) {
  std::stop_source source;
  auto ctx = std::make_unique<context>(weft::with_stop_token(background(), source.get_token()));
  std::atomic<int> ncalls{0};
  const std::stop_callback drops(ctx->stop_token(), [&] {
    ++ncalls;
    ctx.reset();
    weft::yield();
  });
  source.request_stop();
  EXPECT_EQ(ncalls, 1);
}

}  // namespace
