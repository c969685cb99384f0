// context.cpp: weft::context (B310-B325): ends, deadlines, values, functions that are called at the end.
#include <weft/context.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <weft/select_list.hpp>
#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

namespace {

using namespace std::chrono_literals;
using weft::background;
using weft::context;
using weft::context_errc;
using weft::with_cancel;

constexpr auto kLong = 1h;

// What a cause says; "" for none.
std::string text_of(const std::exception_ptr& cause) {
  if (!cause) return "";
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& e) {
    return e.what();
  }
}

bool is_over(const context& ctx) { return ctx.done().closed(); }

// Counts those that are alive.
struct counts_itself {
  explicit counts_itself(std::atomic<int>& n) : alive(&n) { ++*alive; }
  counts_itself(const counts_itself& other) : alive(other.alive) { ++*alive; }
  counts_itself& operator=(const counts_itself&) = delete;
  ~counts_itself() { --*alive; }
  std::atomic<int>* alive;
};

// B310
TEST_FOR_PROCS(context, the_background_never_ends) {
  const context ctx = background();
  EXPECT_FALSE(ctx.done()) << "nil";
  EXPECT_FALSE(ctx.err());
  EXPECT_FALSE(ctx.cause());
  EXPECT_FALSE(ctx.deadline());
  EXPECT_EQ(weft::select(weft::on_done(ctx), weft::otherwise()), 1U);
  EXPECT_TRUE(ctx == background());
}

// B311
TEST_FOR_PROCS(context, cancel_ends_it_and_all_that_was_derived) {
  auto [ctx, cancel] = with_cancel(background());
  const context value = weft::with_value(ctx, "key", 1);
  auto [child, cancel_child] = with_cancel(value);
  auto [timed, cancel_timed] = weft::with_timeout(child, kLong);
  auto [sibling, cancel_sibling] = with_cancel(background());
  weft::test::comer waiter;
  auto waits = weft::spawn([&, timed = timed] {
    waiter.comes();
    return timed.done().recv();
  });
  ASSERT_TRUE(waiter.waits());
  EXPECT_FALSE(is_over(ctx));
  cancel();
  for (const context& each : {ctx, value, child, timed}) {
    EXPECT_TRUE(is_over(each));
    EXPECT_EQ(each.err(), context_errc::canceled);
    EXPECT_EQ(each.err(), std::errc::operation_canceled);
    EXPECT_EQ(each.err().message(), "context canceled");
  }
  EXPECT_FALSE(waits.join()) << "closed, nothing sent";
  EXPECT_FALSE(sibling.err());
  cancel();
  cancel_child();
  EXPECT_EQ(ctx.err(), context_errc::canceled) << "any number of times";
}

TEST_FOR_PROCS(context, an_end_does_not_go_up) {
  auto [ctx, cancel] = with_cancel(background());
  auto [child, cancel_child] = with_cancel(ctx);
  cancel_child();
  EXPECT_TRUE(child.err());
  EXPECT_FALSE(ctx.err());
}

// B313
TEST_FOR_PROCS(context, a_timeout_ends_it_and_not_early) {
  const auto began = weft::clock::now();
  auto [ctx, cancel] = weft::with_timeout(background(), 5ms);
  ASSERT_TRUE(ctx.deadline());
  EXPECT_GE(*ctx.deadline(), began + 5ms);
  ctx.done().recv();
  EXPECT_GE(weft::clock::now(), began + 5ms);
  EXPECT_EQ(ctx.err(), context_errc::deadline_exceeded);
  EXPECT_EQ(ctx.err(), std::errc::timed_out);  // B325
  EXPECT_EQ(ctx.err().message(), "context deadline exceeded");
  EXPECT_NE(text_of(ctx.cause()).find("context deadline exceeded"), std::string::npos);
}

TEST_FOR_PROCS(context, a_deadline_of_another_clock_ends_it) {
  auto [ctx, cancel] = weft::with_deadline(background(), std::chrono::system_clock::now() + 2ms);
  ctx.done().recv();
  EXPECT_EQ(ctx.err(), context_errc::deadline_exceeded);
}

TEST_FOR_PROCS(context, of_two_deadlines_the_earlier_counts) {
  auto [outer, cancel_outer] = weft::with_timeout(background(), kLong);
  auto [same, cancel_same] = weft::with_timeout(outer, 2 * kLong);
  EXPECT_EQ(same.deadline(), outer.deadline()) << "later than the parent's";
  auto [inner, cancel_inner] = weft::with_timeout(same, 2ms);
  EXPECT_LT(*inner.deadline(), *outer.deadline());
  auto [below, cancel_below] = with_cancel(weft::with_value(inner, 1, 2));
  EXPECT_EQ(below.deadline(), inner.deadline());
  below.done().recv();
  EXPECT_EQ(below.err(), context_errc::deadline_exceeded);
  EXPECT_FALSE(outer.err());
  EXPECT_FALSE(same.err());
}

TEST_FOR_PROCS(context, a_deadline_that_has_passed_ends_it_at_once) {
  auto [ctx, cancel] = weft::with_deadline(background(), weft::clock::now() - 1s);
  EXPECT_EQ(ctx.err(), context_errc::deadline_exceeded);
  auto [zero, cancel_zero] = weft::with_timeout(background(), 0s);
  EXPECT_EQ(zero.err(), context_errc::deadline_exceeded);
  auto [never, cancel_never] = weft::with_timeout(background(), std::chrono::hours::max());
  EXPECT_FALSE(never.err());
}

// B314
TEST_FOR_PROCS(context, cancelled_before_its_deadline_says_cancelled) {
  bool was_in_time = false;
  for (auto limit = 2ms; !was_in_time; limit *= 2) {
    const auto deadline = weft::clock::now() + limit;
    auto [ctx, cancel] = weft::with_deadline(background(), deadline);
    cancel();
    was_in_time = weft::clock::now() < deadline;
    if (!was_in_time) continue;
    weft::sleep_until(deadline + 2ms);
    EXPECT_EQ(ctx.err(), context_errc::canceled);
  }
}

// B315
TEST_FOR_PROCS(context, values_are_looked_up_from_the_nearest) {
  struct mine {
    int i;
    bool operator==(const mine&) const = default;
  };
  static const weft::context_key<std::string> kName;
  static const weft::context_key<std::string> kOther;
  context ctx = weft::with_value(background(), "user", std::string("ann"));
  ctx = weft::with_value(ctx, 7, 1.5);
  auto [child, cancel] = with_cancel(ctx);
  ctx = weft::with_value(child, mine{3}, 30);
  ctx = weft::with_value(ctx, kName, "key's own type");
  ctx = weft::with_value(ctx, 7, 2.5);

  ASSERT_NE(ctx.value<std::string>("user"), nullptr);
  EXPECT_EQ(*ctx.value<std::string>("user"), "ann");
  EXPECT_NE(ctx.value<std::string>(std::string("us") + "er"), nullptr) << "by what it says";
  EXPECT_EQ(*ctx.value<double>(7), 2.5);
  EXPECT_EQ(*child.value<double>(7), 1.5);
  EXPECT_EQ(*ctx.value<int>(mine{3}), 30);
  EXPECT_EQ(ctx.value<int>(mine{4}), nullptr);
  EXPECT_EQ(*ctx.value(kName), "key's own type");
  EXPECT_EQ(ctx.value(kOther), nullptr);
  EXPECT_EQ(ctx.value<int>(7), nullptr) << "not a double";
  EXPECT_EQ(ctx.value<double>(7L), nullptr) << "a key of another type";
  EXPECT_EQ(background().value<int>("user"), nullptr);
}

// B319
TEST_FOR_PROCS(context, a_child_of_one_that_has_ended_has_ended) {
  auto [ctx, cancel] = weft::with_cause(background());
  cancel(std::runtime_error("gone"));
  auto [child, cancel_child] = weft::with_timeout(weft::with_value(ctx, 1, 1), kLong);
  EXPECT_TRUE(is_over(child));
  EXPECT_EQ(child.err(), context_errc::canceled);
  EXPECT_EQ(text_of(child.cause()), "gone");
  auto [expired, cancel_expired] = weft::with_timeout(child, -1s);
  EXPECT_EQ(expired.err(), context_errc::canceled) << "its parent was first";
}

// B320
TEST_FOR_PROCS(context, the_first_cause_counts_and_goes_down) {
  auto [parent, cancel_parent] = weft::with_cause(background());
  auto [child, cancel_child] = weft::with_cause(parent);
  auto [leaf, cancel_leaf] = with_cancel(child);
  cancel_child(std::make_exception_ptr(std::logic_error("child")));
  cancel_parent(std::runtime_error("parent"));
  cancel_child(std::runtime_error("too late"));
  EXPECT_EQ(text_of(parent.cause()), "parent");
  EXPECT_EQ(text_of(child.cause()), "child");
  EXPECT_EQ(text_of(leaf.cause()), "child");
  EXPECT_EQ(leaf.err(), context_errc::canceled);

  auto [plain, cancel_plain] = weft::with_cause(background());
  cancel_plain();
  EXPECT_THROW(std::rethrow_exception(plain.cause()), weft::context_error);

  auto [late, cancel_late] = weft::with_timeout(
      background(), 1ms, std::make_exception_ptr(std::runtime_error("too slow")));
  late.done().recv();
  EXPECT_EQ(text_of(late.cause()), "too slow");
  EXPECT_EQ(late.err(), context_errc::deadline_exceeded);
}

// B321
TEST_FOR_PROCS(context, without_cancel_keeps_the_values_only) {
  auto [ctx, cancel] = weft::with_timeout(weft::with_value(background(), "a", 1), kLong);
  const context kept = weft::without_cancel(ctx);
  auto [child, cancel_child] = with_cancel(kept);
  cancel();
  EXPECT_FALSE(kept.done());
  EXPECT_FALSE(kept.err());
  EXPECT_FALSE(kept.deadline());
  EXPECT_FALSE(child.err());
  EXPECT_EQ(*child.value<int>("a"), 1);
}

TEST_FOR_PROCS(context, a_null_one_never_ends_and_is_no_parent) {
  const context null;
  EXPECT_FALSE(null);
  EXPECT_FALSE(null.err());
  EXPECT_FALSE(null.done());
  EXPECT_EQ(null.value<int>(1), nullptr);
  EXPECT_FALSE(null.stop_token().stop_possible());
  EXPECT_THROW((void)with_cancel(null), std::invalid_argument);
  EXPECT_THROW((void)weft::with_cause(null), std::invalid_argument);
  EXPECT_THROW((void)weft::with_timeout(null, 1s), std::invalid_argument);
  EXPECT_THROW((void)weft::with_value(null, 1, 1), std::invalid_argument);
  EXPECT_THROW((void)weft::without_cancel(null), std::invalid_argument);
  EXPECT_THROW((void)weft::with_stop_token(null, {}), std::invalid_argument);
}

TEST(context, a_deadline_needs_a_runtime) {
  auto [ctx, cancel] = with_cancel(background());
  EXPECT_THROW((void)weft::with_timeout(ctx, 1h), weft::not_running);
  cancel();
  EXPECT_EQ(ctx.err(), context_errc::canceled) << "all else works without";
}

// Its timer is gone with the runtime, and it can be ended as ever.
TEST(context, outlives_its_runtime) {
  context kept;
  std::optional<weft::cancel_func> cancels;
  std::atomic<int> ncalls{0};
  for (const bool is_cancelled_inside : {false, true}) {
    weft::run([&] {
      auto [ctx, cancel] = weft::with_timeout(background(), kLong);
      kept = ctx;
      cancels.emplace(cancel);
      weft::after_func(ctx, [&] { ++ncalls; });
    });
    EXPECT_FALSE(kept.err());
    if (is_cancelled_inside) {
      weft::run([&] {
        (*cancels)();
        EXPECT_TRUE(weft::test::eventually([&] { return ncalls == 1; }));
      });
    } else {
      (*cancels)();
      EXPECT_EQ(ncalls, 0) << "there is nobody to call it";
    }
    EXPECT_EQ(kept.err(), context_errc::canceled);
  }
}

// B322
TEST_FOR_PROCS(context, a_function_is_called_once_after_the_end) {
  auto [ctx, cancel] = with_cancel(background());
  std::atomic<int> ncalls{0};
  const std::uint64_t me = weft::this_goroutine::id();
  std::atomic<std::uint64_t> who{0};
  auto ended = weft::make_chan<void>(1);
  auto stop = weft::after_func(ctx, [&] {
    ++ncalls;
    who = weft::this_goroutine::id();
    ended.send();
  });
  weft::yield();
  EXPECT_EQ(ncalls, 0);
  cancel();
  cancel();
  ended.recv();
  weft::yield();
  EXPECT_EQ(ncalls, 1);
  EXPECT_NE(who, me) << "in a goroutine of its own";
  EXPECT_FALSE(stop()) << "too late";
}

TEST_FOR_PROCS(context, a_function_that_was_stopped_is_not_called) {
  auto [ctx, cancel] = with_cancel(background());
  std::atomic<int> ncalls{0};
  auto stop = weft::after_func(ctx, [&] { ++ncalls; });
  EXPECT_TRUE(stop());
  EXPECT_FALSE(stop()) << "it was before";
  cancel();
  auto ended = weft::make_chan<void>();
  weft::after_func(ctx, [=] { ended.send(); });  // at once: it has ended
  ended.recv();
  EXPECT_EQ(ncalls, 0);
  auto never = weft::after_func(background(), [&] { ++ncalls; });
  EXPECT_TRUE(never.stop());
}

TEST_FOR_PROCS(context, a_function_is_called_though_nobody_holds_the_context) {
  std::atomic<int> alive{0};
  auto ended = weft::make_chan<void>(1);
  {
    auto [parent, cancel] = with_cancel(background());
    weft::after_func(with_cancel(parent).ctx, [=, one = counts_itself(alive)] { ended.send(); });
    EXPECT_EQ(alive, 1);
    cancel();
  }
  ended.recv();
  EXPECT_TRUE(weft::test::eventually([&] { return alive == 0; }));
  weft::after_func(weft::with_timeout(background(), 1ms).ctx, [=] { ended.send(); });
  ended.recv();
}

TEST_FOR_PROCS(context, select_sees_the_end) {
  auto [ctx, cancel] = with_cancel(background());
  auto c = weft::make_chan<int>();
  weft::test::comer waiter;
  auto chosen = weft::spawn([&, ctx = ctx] {
    int which = 0;
    waiter.comes();
    weft::select(weft::on_recv(c, [&](std::optional<int>) { which = 1; }),
                 weft::on_done(ctx, [&] { which = 2; }));
    return which;
  });
  ASSERT_TRUE(waiter.waits());
  cancel();
  EXPECT_EQ(chosen.join(), 2);

  weft::select_list list;
  list.add(weft::on_recv(c));
  list.add(weft::on_done(with_cancel(ctx).ctx));
  EXPECT_EQ(list.wait(), 1U) << "it keeps what it waits for";
}

// The channel is all that somebody has.
TEST_FOR_PROCS(context, the_channel_is_closed_though_nobody_holds_the_context) {
  auto [parent, cancel] = with_cancel(background());
  const weft::recv_chan<void> done = with_cancel(parent).ctx.done();
  const weft::recv_chan<void> timed = weft::with_timeout(parent, 1ms).ctx.done();
  EXPECT_FALSE(timed.recv());
  EXPECT_FALSE(done.closed());
  cancel();
  EXPECT_TRUE(done.closed());
}

TEST_FOR_PROCS(context, one_that_nobody_sees_any_more_is_gone) {
  std::atomic<int> alive{0};
  auto [parent, cancel] = with_cancel(background());
  for (int i = 0; i < 100; ++i) {
    const context child =
        weft::with_value(with_cancel(parent).ctx, "counted", counts_itself(alive));
    auto [leaf, cancel_leaf] = with_cancel(child);
    const auto channels = {leaf.done(), child.done(), leaf.done()};
    EXPECT_FALSE(channels.begin()->closed());
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0) << "neither cancelled nor over, and yet nothing stays";
}

// The timer is gone with it: it would hold the context for an hour.
TEST_FOR_PROCS(context, one_that_was_cancelled_before_its_deadline_is_gone) {
  std::atomic<int> alive{0};
  {
    const context kept = weft::with_value(background(), "counted", counts_itself(alive));
    auto [ctx, cancel] = weft::with_timeout(kept, kLong);
    auto [below, cancel_below] = weft::with_timeout(ctx, kLong / 2);
    cancel();
  }
  EXPECT_EQ(alive, 0);
}

TEST_FOR_PROCS(context, a_hundred_thousand_children_end_with_their_parent) {
  constexpr int kChildren = weft::test::scaled(100'000);
  auto [parent, cancel] = with_cancel(background());
  std::vector<weft::cancellable_context<weft::cancel_func>> children;
  children.reserve(kChildren);
  for (int i = 0; i < kChildren; ++i) children.push_back(with_cancel(parent));
  cancel();
  int nended = 0;
  for (const auto& each : children) nended += each.ctx.err() == context_errc::canceled ? 1 : 0;
  EXPECT_EQ(nended, kChildren);
}

// Neither the end nor the destruction of a long chain may use a long stack.
TEST_FOR_PROCS(context, a_chain_of_a_hundred_thousand_ends_and_goes) {
  constexpr int kLength = weft::test::scaled(100'000);
  std::atomic<int> alive{0};
  auto [first, cancel] = with_cancel(background());
  context last = weft::with_value(first, 0, counts_itself(alive));
  for (int i = 0; i < kLength; ++i)
    last = i % 3 == 0 ? weft::with_value(last, i, i) : with_cancel(last).ctx;
  EXPECT_NE(last.value<int>(kLength / 3 * 3 - 3), nullptr);
  const context leaf = last;
  cancel();
  EXPECT_EQ(leaf.err(), context_errc::canceled);
  last = {};
  const_cast<context&>(leaf) = {};
  EXPECT_EQ(alive, 0);
}

TEST_FOR_PROCS(context, receiving_and_sending_end_with_it) {
  auto c = weft::make_chan<std::string>(1);
  auto [ctx, cancel] = with_cancel(background());
  EXPECT_TRUE(c.send("one", ctx));
  EXPECT_EQ(c.recv(ctx), "one");
  c.send("two");
  std::string kept = "three";
  weft::test::comer sender;
  auto sends = weft::spawn([&, ctx = ctx] {
    sender.comes();
    return c.send(std::move(kept), ctx);
  });
  ASSERT_TRUE(sender.waits());
  auto empty = weft::make_chan<std::string>();
  weft::test::comer receiver;
  auto receives = weft::spawn([&, ctx = ctx] {
    receiver.comes();
    return empty.recv(ctx);
  });
  ASSERT_TRUE(receiver.waits());
  auto signal = weft::make_chan<void>();
  weft::test::comer third;
  auto waits = weft::spawn([&, ctx = ctx] {
    third.comes();
    return signal.recv(ctx);
  });
  ASSERT_TRUE(third.waits());
  cancel();
  EXPECT_FALSE(sends.join());
  EXPECT_EQ(kept, "three") << "untouched";
  EXPECT_FALSE(receives.join());
  EXPECT_FALSE(waits.join());
  EXPECT_FALSE(c.recv(ctx)) << "over is over, though there is something";
  EXPECT_FALSE(signal.send(ctx));
  EXPECT_EQ(c.recv(background()), "two");
  c.close();
  EXPECT_FALSE(c.recv(background()));
  EXPECT_THROW(c.send("four", background()), weft::closed_channel);
  EXPECT_FALSE(c.send("four", ctx)) << "the context is asked first";
}

TEST_FOR_PROCS(context, a_semaphore_is_waited_for_no_longer) {
  weft::semaphore s(2);
  auto [ctx, cancel] = with_cancel(background());
  EXPECT_TRUE(s.acquire(ctx));
  EXPECT_TRUE(s.acquire(1, ctx));
  weft::test::comer large;
  auto waits = weft::spawn([&, ctx = ctx] {
    large.comes();
    return s.acquire(2, ctx);
  });
  ASSERT_TRUE(large.waits());
  weft::test::comer small;
  auto behind = weft::spawn([&] {
    small.comes();
    return s.acquire(background());
  });
  ASSERT_TRUE(small.waits());
  s.release();
  EXPECT_FALSE(behind.wait_for(1ms)) << "first come, first served";
  cancel();
  EXPECT_FALSE(waits.join());
  EXPECT_TRUE(behind.join()) << "there was one for it all the time";
  EXPECT_FALSE(s.acquire(0, ctx)) << "one that has ended gets nothing";
  s.release(2);
  EXPECT_TRUE(s.try_acquire(2)) << "nothing was taken";
  EXPECT_THROW((void)s.acquire(3, background()), std::invalid_argument);
}

}  // namespace
