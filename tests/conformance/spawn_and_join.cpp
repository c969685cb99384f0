// spawn_and_join.cpp: go, spawn, join_handle, await_all: what goes in runs, and what comes out is what went in.
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// T-1
TEST_FOR_PROCS(spawn, two_goroutines_both_complete) {
  bool first = false;
  bool second = false;
  auto g1 = weft::spawn([&] { first = true; });
  auto g2 = weft::spawn([&] { second = true; });
  g1.join();
  g2.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST_FOR_PROCS(spawn, join_gives_the_value) {
  auto h =
      weft::spawn([](int a, const std::string& b) { return b + std::to_string(a); }, 7, "seven ");
  EXPECT_EQ(h.join(), "seven 7");
}

TEST_FOR_PROCS(spawn, join_gives_a_reference_to_the_very_object) {
  int here = 1;
  auto h = weft::spawn([&here]() -> int& { return here; });
  int& same = h.join();
  EXPECT_EQ(&same, &here);
}

TEST_FOR_PROCS(spawn, join_gives_a_move_only_value) {
  auto h = weft::spawn([] { return std::make_unique<int>(42); });
  const std::unique_ptr<int> p = h.join();
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(*p, 42);
}

TEST_FOR_PROCS(spawn, move_only_arguments_reach_the_function) {
  auto h = weft::spawn([](std::unique_ptr<int> p) { return *p; }, std::make_unique<int>(5));
  EXPECT_EQ(h.join(), 5);
}

TEST_FOR_PROCS(spawn, arguments_are_copied_before_spawn_returns) {
  std::string text = "before";
  auto h = weft::spawn([](const std::string& s) { return s; }, text);
  text = "after";
  EXPECT_EQ(h.join(), "before");
}

TEST_FOR_PROCS(spawn, a_reference_wrapper_passes_the_object_itself) {
  int n = 0;
  weft::spawn([](int& x) { x = 9; }, std::ref(n)).join();
  EXPECT_EQ(n, 9);
}

TEST_FOR_PROCS(spawn, member_functions_can_be_started) {
  struct counter {
    int value = 3;
    int plus(int n) const { return value + n; }
  } c;
  EXPECT_EQ(weft::spawn(&counter::plus, &c, 4).join(), 7);
}

TEST_FOR_PROCS(spawn, join_rethrows_what_the_function_threw) {
  auto h = weft::spawn([]() -> int { throw std::out_of_range("far"); });
  try {
    h.join();
    ADD_FAILURE() << "join returned";
  } catch (const std::out_of_range& e) {
    EXPECT_STREQ(e.what(), "far");
  }
}

TEST_FOR_PROCS(spawn, join_rethrows_something_that_is_no_std_exception) {
  auto h = weft::spawn([] { throw 17; });
  try {
    h.join();
    ADD_FAILURE() << "join returned";
  } catch (int n) {
    EXPECT_EQ(n, 17);
  }
}

TEST_FOR_PROCS(spawn, join_of_one_that_exited_throws_goroutine_exited) {
  auto h = weft::spawn([]() -> int { weft::exit_goroutine(); });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
}

TEST_FOR_PROCS(spawn, a_second_join_throws_logic_error) {
  auto h = weft::spawn([] { return 1; });
  EXPECT_TRUE(h.joinable());
  EXPECT_EQ(h.join(), 1);
  EXPECT_FALSE(h.joinable());
  EXPECT_THROW(h.join(), std::logic_error);
}

TEST_FOR_PROCS(spawn, join_after_a_throwing_join_throws_logic_error) {
  auto h = weft::spawn([]() -> int { throw std::runtime_error("once"); });
  EXPECT_THROW(h.join(), std::runtime_error);
  EXPECT_FALSE(h.joinable());
  EXPECT_THROW(h.join(), std::logic_error);
}

TEST_FOR_PROCS(spawn, join_of_a_default_or_moved_from_handle_throws_logic_error) {
  weft::join_handle<int> none;
  EXPECT_FALSE(none.joinable());
  EXPECT_THROW(none.join(), std::logic_error);
  auto h = weft::spawn([] { return 2; });
  none = std::move(h);
  EXPECT_FALSE(h.joinable());  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_THROW(h.join(), std::logic_error);
  EXPECT_EQ(none.join(), 2);
}

TEST_FOR_PROCS(spawn, a_detached_goroutine_runs_to_its_end) {
  weft::event done;
  {
    auto h = weft::spawn([&] { done.set(); });
    h.detach();
    EXPECT_FALSE(h.joinable());
  }
  done.wait();
}

TEST_FOR_PROCS(spawn, dropping_the_handle_detaches) {
  weft::event may_end;
  weft::event ended;
  {
    [[maybe_unused]] auto h = weft::spawn([&] {
      may_end.wait();
      ended.set();
      return std::string("unread");
    });
  }
  may_end.set();
  ended.wait();
}

TEST_FOR_PROCS(spawn, assigning_over_a_handle_detaches_the_old_goroutine) {
  weft::event first_ended;
  auto h = weft::spawn([&] {
    first_ended.set();
    return 1;
  });
  h = weft::spawn([] { return 2; });
  EXPECT_EQ(h.join(), 2);
  first_ended.wait();
}

TEST_FOR_PROCS(spawn, wait_leaves_the_result_for_join) {
  auto h = weft::spawn([] { return 8; });
  h.wait();
  h.wait();
  EXPECT_TRUE(h.joinable());
  EXPECT_EQ(h.join(), 8);
}

TEST_FOR_PROCS(spawn, join_sees_all_that_the_goroutine_wrote) {
  for (int i = 0; i < weft::test::scaled(1000); ++i) {
    int plain = 0;  // no atomics: ThreadSanitizer would tell
    auto h = weft::spawn([&plain, i] { plain = i; });
    h.join();
    ASSERT_EQ(plain, i);
  }
}

TEST_FOR_PROCS(spawn, a_handle_may_be_joined_by_another_goroutine) {
  auto inner = weft::spawn([] {
    weft::yield();
    return 21;
  });
  auto outer = weft::spawn([h = std::move(inner)]() mutable { return 2 * h.join(); });
  EXPECT_EQ(outer.join(), 42);
}

TEST_FOR_PROCS(await_all, gives_all_results_in_order_and_monostate_for_void) {
  int x = 0;
  auto [a, b, c] = weft::await_all(weft::spawn([] { return 1; }), weft::spawn([&x] { x = 5; }),
                                   weft::spawn([] { return std::make_unique<int>(3); }));
  EXPECT_EQ(a, 1);
  static_assert(std::is_same_v<decltype(b), std::monostate>);
  EXPECT_EQ(x, 5);
  EXPECT_EQ(*c, 3);
}

TEST_FOR_PROCS(await_all, waits_for_all_and_then_rethrows_the_first_in_order) {
  std::atomic<bool> last_ended{false};
  try {
    weft::await_all(weft::spawn([] { return 1; }),
                    weft::spawn([]() -> int { throw std::runtime_error("second"); }),
                    weft::spawn([&]() -> int {
                      for (int i = 0; i < 50; ++i) weft::yield();
                      last_ended = true;
                      throw std::runtime_error("third");
                    }));
    ADD_FAILURE() << "await_all returned";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "second");
  }
  EXPECT_TRUE(last_ended);
}

TEST_FOR_PROCS(await_all, of_nothing_returns_at_once) {
  static_assert(std::is_same_v<decltype(weft::await_all()), std::tuple<>>);
  weft::await_all();
}

TEST_FOR_PROCS(go, a_thousand_goroutines_each_run_once) {
  std::vector<std::atomic<int>> runs(1000);
  weft::wait_group wg;
  wg.add(1000);
  for (auto& n : runs)
    weft::go([&] {
      n.fetch_add(1);
      wg.done();
    });
  wg.wait();
  for (const auto& n : runs) EXPECT_EQ(n.load(), 1);
}

TEST_FOR_PROCS(go, what_was_done_before_is_visible_in_the_goroutine) {
  for (int i = 0; i < weft::test::scaled(1000); ++i) {
    int plain = i;
    weft::event done;
    weft::go([&] {
      EXPECT_EQ(plain, i);
      done.set();
    });
    done.wait();
  }
}

// B071: the fatal form is for what cannot be seen at the call; an empty callable can.
TEST_FOR_PROCS(go, an_empty_callable_is_rejected_at_the_call) {
  const auto before = weft::num_goroutines();
  EXPECT_THROW(weft::go(std::function<void()>{}), std::invalid_argument);
  EXPECT_THROW(weft::go(static_cast<void (*)()>(nullptr)), std::invalid_argument);
  EXPECT_THROW((void)weft::spawn(std::function<int()>{}), std::invalid_argument);
  weft::wait_group wg;
  EXPECT_THROW(wg.go(std::function<void()>{}), std::invalid_argument);
  wg.wait();  // it does not count
  EXPECT_EQ(weft::num_goroutines(), before);
}

TEST_FOR_PROCS(go, an_impossible_stack_size_is_rejected_at_the_call) {
  EXPECT_THROW(weft::go({.stack_size = (std::size_t{1} << 30) + 1}, [] {}), std::invalid_argument);
  EXPECT_THROW((void)weft::spawn({.stack_size = ~std::size_t{0}}, [] { return 1; }),
               std::invalid_argument);
}

TEST_FOR_PROCS(go, options_and_arguments_go_together) {
  auto h = weft::spawn(
      {.name = "adder"},
      [](int a, int b) { return weft::this_goroutine::name() + std::to_string(a + b); }, 1, 2);
  EXPECT_EQ(h.join(), "adder3");
}

TEST(go, outside_a_runtime_throws_not_running) {
  EXPECT_THROW(weft::go([] {}), weft::not_running);
  EXPECT_THROW((void)weft::spawn([] { return 1; }), weft::not_running);
  try {
    weft::go([] {});
  } catch (const weft::not_running& e) {
    EXPECT_NE(std::string(e.what()).find("weft::go"), std::string::npos) << e.what();
  }
}

}  // namespace
