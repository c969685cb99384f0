// closures.cpp: what happens to the callable and its captures (B100): made as often as the caller asks, destroyed
// exactly as often as made, in whatever way the goroutine ends.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// Counts its own instances.
struct census {
  std::atomic<int> made{0};
  std::atomic<int> destroyed{0};
  int alive() const { return made - destroyed; }
};

class witness {
 public:
  explicit witness(census& c) : census_(&c) { ++census_->made; }
  witness(const witness& other) : census_(other.census_) { ++census_->made; }
  witness(witness&& other) noexcept : census_(other.census_) { ++census_->made; }
  witness& operator=(const witness&) = delete;
  ~witness() { ++census_->destroyed; }

 private:
  census* census_;
};

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copy"); }
};

TEST_FOR_PROCS(closure, inline_captures_are_destroyed_exactly_once) {
  census c;
  weft::event ran;
  {
    witness w(c);
    weft::go([w, &ran] { ran.set(); });
  }
  ran.wait();
  EXPECT_TRUE(weft::test::eventually([&] { return c.alive() == 0; }))
      << c.made << " made, " << c.destroyed << " destroyed";
  EXPECT_GE(c.made, 2);
}

TEST_FOR_PROCS(closure, captures_larger_than_the_inline_room_arrive_whole_and_are_destroyed_once) {
  census c;
  std::array<std::uint64_t, 100> big{};
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = i * i;
  auto h = weft::spawn([big, w = witness(c)] {
    std::uint64_t sum = 0;
    for (const auto n : big) sum += n;
    return sum;
  });
  EXPECT_EQ(h.join(), 328350u);
  EXPECT_EQ(c.alive(), 0);
  weft::event ran;
  weft::go([big, w = witness(c), &ran] {
    EXPECT_EQ(big[99], 9801u);
    ran.set();
  });
  ran.wait();
  EXPECT_TRUE(weft::test::eventually([&] { return c.alive() == 0; }));
}

template <std::size_t Align>
struct alignas(Align) aligned_box {
  char bytes[Align];
  bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(this) % Align == 0; }
};

TEST_FOR_PROCS(closure, over_aligned_captures_are_aligned) {
  for (int i = 0; i < 20; ++i) {
    weft::event first;
    weft::event second;
    weft::go([box = aligned_box<64>{}, &first] {
      EXPECT_TRUE(box.is_aligned());
      first.set();
    });
    weft::go([box = aligned_box<4096>{}, &second] {
      EXPECT_TRUE(box.is_aligned());
      second.set();
    });
    first.wait();
    second.wait();
    EXPECT_TRUE(weft::spawn([box = aligned_box<256>{}] { return box.is_aligned(); }).join());
  }
}

TEST_FOR_PROCS(closure, move_only_callables_start) {
  auto p = std::make_unique<int>(6);
  weft::event done;
  weft::go([q = std::move(p), &done] {
    EXPECT_EQ(*q, 6);
    done.set();
  });
  done.wait();
  weft::wait_group wg;
  wg.go([q = std::make_unique<int>(7)] { EXPECT_EQ(*q, 7); });
  wg.wait();
}

TEST_FOR_PROCS(closure, a_copy_that_throws_starts_nothing_and_leaks_nothing) {
  const auto goroutines = weft::num_goroutines();
  for (int i = 0; i < 100; ++i) {
    census c;
    const witness w(c);
    const throws_when_copied bad;
    const auto small = [w, &bad] { (void)bad; };
    (void)small;
    EXPECT_THROW(
        weft::go([](const witness&, const throws_when_copied&) { ADD_FAILURE() << "it ran"; }, w,
                 bad),
        std::runtime_error);
    EXPECT_THROW(
        (void)weft::spawn([](const witness&, const throws_when_copied&) { return 1; }, w, bad),
        std::runtime_error);
    EXPECT_THROW(weft::go(
                     {.name = "never"}, [](const witness&, const throws_when_copied&) {}, w, bad),
                 std::runtime_error);
    EXPECT_EQ(c.alive(), 2);  // w and small
  }
  EXPECT_EQ(weft::num_goroutines(), goroutines);
}

TEST_FOR_PROCS(closure, a_large_copy_that_throws_leaks_nothing) {
  for (int i = 0; i < 100; ++i) {
    census c;
    const witness w(c);
    const throws_when_copied bad;
    EXPECT_THROW(
        weft::go([](const witness&, const std::array<char, 500>&, const throws_when_copied&) {}, w,
                 std::array<char, 500>{}, bad),
        std::runtime_error);
    EXPECT_EQ(c.alive(), 1);
  }
  EXPECT_EQ(weft::num_goroutines(), 1u);
}

TEST_FOR_PROCS(closure, is_destroyed_once_when_the_goroutine_exits) {
  census c;
  weft::event running;
  weft::go([w = witness(c), &running] {
    running.set();
    weft::exit_goroutine();
  });
  running.wait();
  EXPECT_TRUE(weft::test::eventually([&] { return c.alive() == 0; }));
  auto h = weft::spawn([w = witness(c)]() -> int { weft::exit_goroutine(); });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
  EXPECT_EQ(c.alive(), 0);
  weft::go([w = witness(c), big = std::array<char, 300>{}] {
    EXPECT_EQ(big[299], 0);
    weft::exit_goroutine();
  });
  EXPECT_TRUE(weft::test::eventually([&] { return c.alive() == 0; }));
}

TEST_FOR_PROCS(closure, is_destroyed_once_when_the_function_throws) {
  census c;
  auto h = weft::spawn([w = witness(c)]() -> int { throw 1; });
  EXPECT_THROW(h.join(), int);
  EXPECT_EQ(c.alive(), 0);
}

TEST_FOR_PROCS(closure, is_gone_before_join_returns) {
  for (int i = 0; i < weft::test::scaled(500); ++i) {
    census c;
    auto h = weft::spawn([w = witness(c)] { return 1; });
    h.join();
    ASSERT_EQ(c.alive(), 0);
  }
}

TEST_FOR_PROCS(closure, its_destructor_may_call_into_weft) {
  struct spawns_when_destroyed {
    weft::wait_group* wg;
    explicit spawns_when_destroyed(weft::wait_group& g) : wg(&g) {}
    spawns_when_destroyed(spawns_when_destroyed&& other) noexcept
        : wg(std::exchange(other.wg, nullptr)) {}
    ~spawns_when_destroyed() {
      if (wg == nullptr) return;
      weft::yield();
      weft::go([g = wg] { g->done(); });
    }
  };
  weft::wait_group wg;
  wg.add(2);
  weft::go([d = spawns_when_destroyed(wg)] {});
  weft::go([d = spawns_when_destroyed(wg)] { weft::exit_goroutine(); });
  wg.wait();
}

TEST_FOR_PROCS(closure, the_result_is_destroyed_once_whether_joined_or_not) {
  census c;
  {
    auto joined = weft::spawn([&] { return std::make_unique<witness>(c); });
    joined.join();
    EXPECT_EQ(c.alive(), 0);
    auto dropped = weft::spawn([&] { return std::make_unique<witness>(c); });
    dropped.wait();
    EXPECT_EQ(c.alive(), 1);
  }
  EXPECT_TRUE(weft::test::eventually([&] { return c.alive() == 0; }));
}

TEST_FOR_PROCS(exit_goroutine, runs_every_destructor_on_the_stack_in_order) {
  std::vector<int> order;
  struct noted {
    std::vector<int>& order;
    int number;
    ~noted() { order.push_back(number); }
  };
  struct deeper {
    static void go_down(std::vector<int>& order, int n) {
      noted here{order, n};
      if (n < 5) {
        go_down(order, n + 1);
      } else if (order.empty()) {  // nobody has left yet
        weft::exit_goroutine();
      }
      ADD_FAILURE() << "returned";
    }
  };
  auto h = weft::spawn([&] { deeper::go_down(order, 1); });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
  EXPECT_EQ(order, (std::vector<int>{5, 4, 3, 2, 1}));
}

TEST_FOR_PROCS(exit_goroutine, passes_through_a_catch_all_that_rethrows) {
  bool seen = false;
  auto h = weft::spawn([&] {
    try {
      weft::exit_goroutine();
    } catch (...) {
      seen = true;
      throw;
    }
  });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
  EXPECT_TRUE(seen);
}

TEST_FOR_PROCS(exit_goroutine, is_not_caught_as_an_exception) {
  bool caught = false;
  auto h = weft::spawn([&] {
    try {
      weft::exit_goroutine();
    } catch (const std::exception&) {
      caught = true;
    }
  });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
  EXPECT_FALSE(caught);
}

TEST_FOR_PROCS(exit_goroutine, destructors_on_the_way_may_park_and_move_to_another_thread) {
  for (int i = 0; i < 50; ++i) {
    weft::event e;
    struct parks {
      weft::event& e;
      bool& parked;
      ~parks() {
        e.wait();
        for (int n = 0; n < 3; ++n) weft::yield();
        parked = true;
      }
    };
    bool parked = false;
    auto h = weft::spawn([&] {
      parks p{e, parked};
      weft::exit_goroutine();
    });
    weft::go([&] { e.set(); });
    EXPECT_THROW(h.join(), weft::goroutine_exited);
    EXPECT_TRUE(parked);
  }
}

TEST_FOR_PROCS(exit_goroutine, inside_a_catch_block_frees_the_exception) {
  static std::atomic<int> alive{0};
  struct counted {
    counted() { ++alive; }
    counted(const counted&) { ++alive; }
    ~counted() { --alive; }
  };
  auto h = weft::spawn([] {
    try {
      throw counted();
    } catch (const counted&) {
      weft::exit_goroutine();
    }
  });
  EXPECT_THROW(h.join(), weft::goroutine_exited);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

}  // namespace
