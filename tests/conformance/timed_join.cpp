// timed_join.cpp: waiting for a goroutine, but not for ever: join_for, join_until, wait_for, wait_until.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

using namespace std::chrono_literals;

namespace {

// A goroutine that waits until it is let go.
template <class R>
struct held {
  explicit held(R result)
      : handle(weft::spawn([this, result] {
          gate.wait();
          return result;
        })) {}
  weft::event gate;
  weft::join_handle<R> handle;
};

TEST_FOR_PROCS(join_for, gives_the_result_of_one_that_ends_in_time) {
  auto h = weft::spawn([] { return 42; });
  EXPECT_EQ(h.join_for(1h), std::optional(42));
  EXPECT_FALSE(h.joinable());
}

TEST_FOR_PROCS(join_for, gives_nothing_when_the_time_is_over_and_the_handle_is_as_before) {
  held<int> other(7);
  const auto before = weft::clock::now();
  EXPECT_EQ(other.handle.join_for(2ms), std::nullopt);
  EXPECT_GE(weft::clock::now() - before, 2ms) << "never early";
  EXPECT_TRUE(other.handle.joinable());
  EXPECT_EQ(other.handle.join_for(1ms), std::nullopt);
  other.gate.set();
  EXPECT_EQ(other.handle.join(), 7);
}

TEST_FOR_PROCS(join_for, of_no_time_looks_and_lets_others_run) {
  held<int> other(7);
  EXPECT_EQ(other.handle.join_for(0s), std::nullopt);
  EXPECT_EQ(other.handle.join_for(-1h), std::nullopt);
  other.gate.set();
  std::optional<int> result;
  EXPECT_TRUE(
      weft::test::eventually([&] { return (result = other.handle.join_for(0s)).has_value(); }));
  EXPECT_EQ(result, 7);
}

TEST_FOR_PROCS(join_for, of_all_time_waits_for_the_end) {
  held<int> other(7);
  weft::go([&] { other.gate.set(); });
  EXPECT_EQ(other.handle.join_for(std::chrono::hours::max()), std::optional(7));
}

TEST_FOR_PROCS(join_for, of_nothing_is_a_bool_and_of_a_reference_a_pointer) {
  auto nothing = weft::spawn([] {});
  static_assert(std::is_same_v<decltype(nothing.join_for(1s)), bool>);
  EXPECT_TRUE(nothing.join_for(1h));
  int here = 1;
  auto reference = weft::spawn([&here]() -> int& { return here; });
  EXPECT_EQ(reference.join_for(1h), &here);
  auto owner = weft::spawn([] { return std::make_unique<int>(5); });
  EXPECT_EQ(**owner.join_for(1h), 5);
}

TEST_FOR_PROCS(join_for, rethrows_and_a_second_one_is_an_error) {
  auto h = weft::spawn([]() -> int { throw std::out_of_range("no such page"); });
  EXPECT_THROW((void)h.join_for(1h), std::out_of_range);
  EXPECT_THROW((void)h.join_for(1h), std::logic_error);
  EXPECT_THROW((void)h.wait_for(1h), std::logic_error);
  auto exited = weft::spawn([] { weft::exit_goroutine(); });
  EXPECT_THROW((void)exited.join_for(1h), weft::goroutine_exited);
}

TEST_FOR_PROCS(join_until, keeps_to_its_clock) {
  held<int> other(7);
  const auto weft_end = weft::clock::now() + 1ms;
  EXPECT_EQ(other.handle.join_until(weft_end), std::nullopt);
  EXPECT_GE(weft::clock::now(), weft_end);
  const auto system_end = std::chrono::system_clock::now() + 1ms;
  EXPECT_EQ(other.handle.join_until(system_end), std::nullopt);
  EXPECT_GE(std::chrono::system_clock::now(), system_end);
  EXPECT_FALSE(other.handle.wait_until(std::chrono::steady_clock::now() - 1h));
  other.gate.set();
  EXPECT_TRUE(other.handle.wait_until(std::chrono::steady_clock::now() + 1h));
  EXPECT_TRUE(other.handle.joinable()) << "the result is where it was";
  EXPECT_EQ(other.handle.join_until(weft::clock::now() + 1h), std::optional(7));
}

TEST_FOR_PROCS(join_for, a_handle_that_timed_out_can_be_dropped) {
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = value;
  weft::event gate;
  {
    auto h = weft::spawn([&gate, v = std::move(value)] {
      gate.wait();
      return v;
    });
    EXPECT_FALSE(h.wait_for(1ms));
  }
  gate.set();
  EXPECT_TRUE(weft::test::eventually([&] { return watch.expired(); })) << "the result was leaked";
}

// The end and the time come together, again and again, in both orders.
TEST_FOR_PROCS(join_for_race, the_end_and_the_time_at_once) {
  int nended = 0;
  int ntimed_out = 0;
  for (int i = 0; i < 300; ++i) {
    const auto when = weft::clock::now() + std::chrono::microseconds(50 + i % 7);
    auto h = weft::spawn([when, i] {
      weft::sleep_until(when + std::chrono::nanoseconds(i % 3 * 1000 - 1000));
      return i;
    });
    const std::optional<int> result = h.join_until(when);
    if (result.has_value()) {
      ++nended;
      ASSERT_EQ(*result, i);
    } else {
      ++ntimed_out;
      ASSERT_EQ(h.join(), i);
    }
  }
  EXPECT_EQ(nended + ntimed_out, 300);
}

TEST_FOR_PROCS(join_for_race, from_plain_threads) {
  std::atomic<int> nright{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&nright, t] {
      for (int i = 0; i < 50; ++i) {
        auto h = weft::spawn([i] {
          weft::sleep_for(std::chrono::microseconds(i));
          return i;
        });
        std::optional<int> result;
        while (!result.has_value()) result = h.join_for(std::chrono::microseconds(10 * t + i));
        if (*result == i) ++nright;
      }
    });
  }
  weft::blocking([&] {
    for (auto& t : threads) t.join();
  });
  EXPECT_EQ(nright, 150);
}

// The second wait lies where the first one lay: a timer of the first that still runs would end the second.
TEST_FOR_PROCS(join_for, leaves_no_timer_behind) {
  for (int i = 0; i < 20; ++i) {
    auto at_once = weft::spawn([] {});
    auto later = weft::spawn([] { weft::sleep_for(4ms); });
    const bool has_ended = at_once.wait_for(1ms);  // or not, on a slow machine
    ASSERT_TRUE(later.wait_for(1h)) << "in round " << i << ", the first ended: " << has_ended;
  }
}

// Each cancelled timer stays in its heap for a while: many of them must not be in the way.
TEST_FOR_PROCS(join_for, ten_thousand_that_end_long_before_their_time) {
  for (int i = 0; i < 10'000; ++i) {
    auto h = weft::spawn([i] { return i; });
    ASSERT_EQ(h.join_for(1h), std::optional(i));
  }
}

}  // namespace
