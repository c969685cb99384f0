// many.cpp: many goroutines: chained, nested, over time (B067, B340, HAZARD 65).
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "stack/guard.hpp"
#include "stack/test_support.hpp"
#include "support/for_procs.hpp"

namespace {

using weft::stack::test::kIsSanitized;
using weft::stack::test::resident_bytes;

// How many stacks the system lets a process have at once.
std::size_t most_stacks() {
  using namespace weft::stack;
  return current_guard_mode() == guard_mode::madvise ? std::numeric_limits<std::size_t>::max()
                                                     : guards_within(weft::os::max_map_count());
}

// B067: each waits for its right neighbour and adds one.
TEST_FOR_PROCS(many, a_hundred_thousand_goroutines_chained_by_events_start_and_tear_down) {
  const int count = weft::test::kIsTsan ? 3000 : weft::test::scaled(100'000);
  const std::size_t possible = most_stacks();
  if (possible < static_cast<std::size_t>(count))
    GTEST_SKIP() << "without MADV_GUARD_INSTALL a guard costs mappings: " << possible
                 << " stacks at most";
  const auto events = std::make_unique<weft::event[]>(static_cast<std::size_t>(count) + 1);
  int value = 0;  // handed along the chain
  for (int i = 0; i < count; ++i) {
    weft::go([&, i] {
      events[static_cast<std::size_t>(i) + 1].wait();
      ++value;
      events[static_cast<std::size_t>(i)].set();
    });
  }
  events[static_cast<std::size_t>(count)].set();
  events[0].wait();
  EXPECT_EQ(value, count);
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }))
      << weft::num_goroutines();
}

// B067, as in Go: each receives from its right neighbour, adds one and sends to the left.
TEST_FOR_PROCS(many, a_hundred_thousand_goroutines_chained_by_channels_start_and_tear_down) {
  const int count = weft::test::kIsTsan ? 3000 : weft::test::scaled(100'000);
  const std::size_t possible = most_stacks();
  if (possible < static_cast<std::size_t>(count))
    GTEST_SKIP() << "without MADV_GUARD_INSTALL a guard costs mappings: " << possible
                 << " stacks at most";
  const auto leftmost = weft::make_chan<int>();
  auto left = leftmost;
  for (int i = 0; i < count; ++i) {
    const auto right = weft::make_chan<int>();
    weft::go([left, right] { left.send(1 + *right.recv()); });
    left = right;
  }
  weft::go([right = std::exchange(left, {})] { right.send(0); });
  EXPECT_EQ(leftmost.recv(), count);
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }))
      << weft::num_goroutines();
}

// B340
TEST_FOR_PROCS(many, spawning_from_within_a_spawn_a_million_times_keeps_memory_bounded) {
  struct chain {
    static void next(int left, weft::event& end) {
      if (left == 0) return end.set();
      weft::go([left, &end] { next(left - 1, end); });
    }
  };
  const auto run = [](int n) {
    weft::event end;
    weft::go([&, n] { chain::next(n, end); });
    end.wait();
  };
  run(10'000);
  const auto stacks = weft::stats().stacks;
  const std::size_t before = resident_bytes();
  run(weft::test::is_migrating() ? 10'000 : weft::test::scaled(1'000'000));
  EXPECT_LE(weft::stats().stacks, stacks + 64);
  if (!kIsSanitized) {
    EXPECT_LT(resident_bytes(), before + (std::size_t{4} << 20));
  }
}

TEST_FOR_PROCS(many, a_tree_of_goroutines_sums_its_leaves) {
  struct tree {
    static int sum(int depth) {
      if (depth == 0) return 1;
      auto left = weft::spawn([depth] { return sum(depth - 1); });
      auto right = weft::spawn([depth] { return sum(depth - 1); });
      return left.join() + right.join();
    }
  };
  const int depth = weft::test::kIsTsan ? 8 : 12;
  EXPECT_EQ(tree::sum(depth), 1 << depth);
}

// HAZARD 65: waiting leaves nothing behind.
TEST_FOR_PROCS(many, waiting_a_hundred_thousand_times_keeps_memory_bounded) {
  const auto run = [](int n) {
    for (int i = 0; i < n; ++i) {
      weft::event e;
      weft::wait_group wg;
      wg.add(1);
      weft::go([&] {
        e.set();
        wg.done();
      });
      e.wait();
      wg.wait();
    }
  };
  run(1000);
  const std::size_t before = resident_bytes();
  run(weft::test::is_migrating() ? 1000 : weft::test::scaled(100'000));
  if (!kIsSanitized) {
    EXPECT_LT(resident_bytes(), before + (std::size_t{2} << 20));
  }
}

// B183: neither does choosing.
TEST_FOR_PROCS(many, selecting_a_hundred_thousand_times_keeps_memory_bounded) {
  const auto run = [](int n) {
    auto numbers = weft::make_chan<int>();
    auto texts = weft::make_chan<std::string>();
    auto sum = weft::spawn([=] {
      std::int64_t got = 0;
      for (int i = 0; i < n; ++i) {
        weft::select(weft::on_recv(numbers, [&](std::optional<int> v) { got += *v; }),
                     weft::on_recv(texts, [&](std::optional<std::string> v) {
                       got += static_cast<std::int64_t>(v->size());
                     }));
      }
      return got;
    });
    for (int i = 0; i < n; ++i)
      weft::select(weft::on_send(numbers, 1), weft::on_send(texts, std::string("x")));
    EXPECT_EQ(sum.join(), n);
  };
  run(1000);
  const std::size_t before = resident_bytes();
  run(weft::test::is_migrating() ? 1000 : weft::test::scaled(100'000));
  if (!kIsSanitized) {
    EXPECT_LT(resident_bytes(), before + (std::size_t{2} << 20));
  }
}

}  // namespace
