// group.cpp: weft::group (B327): children that end together, and what the first that fails does to the others.
#include <weft/group.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

namespace {

using namespace std::chrono_literals;

std::string failure_of(weft::group& g) {
  try {
    g.wait();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST_FOR_PROCS(group, waits_for_all_of_its_children) {
  std::atomic<int> n{0};
  weft::group g;
  for (int i = 0; i < 100; ++i) {
    g.go([&] {
      weft::yield();
      ++n;
    });
  }
  EXPECT_FALSE(g.ctx().err());
  g.wait();
  EXPECT_EQ(n, 100);
  EXPECT_TRUE(g.ctx().err()) << "what was derived from it ends too";
}

TEST_FOR_PROCS(group, the_first_failure_ends_the_others_and_is_rethrown) {
  weft::group g;
  std::atomic<int> nstopped{0};
  for (int i = 0; i < 10; ++i) {
    g.go([&](const weft::context& ctx) {
      ctx.done().recv();
      ++nstopped;
      throw std::logic_error("only because of the first");
    });
  }
  g.go([] { throw std::runtime_error("the first"); });
  EXPECT_EQ(failure_of(g), "the first");
  EXPECT_EQ(failure_of(g), "the first") << "each time";
  EXPECT_EQ(nstopped, 10);
  EXPECT_THROW(std::rethrow_exception(g.ctx().cause()), std::runtime_error);
}

TEST_FOR_PROCS(group, its_end_cancels_and_waits) {
  std::atomic<int> nalive{0};
  {
    weft::group g;
    for (int i = 0; i < 10; ++i) {
      ++nalive;
      g.go([&](const weft::context& ctx) {
        ctx.done().recv();
        weft::yield();
        --nalive;
        throw std::runtime_error("nobody asks");
      });
    }
  }
  EXPECT_EQ(nalive, 0);
}

// A child is gone with all it had.
TEST_FOR_PROCS(group, closures_and_locals_are_gone_when_wait_returns) {
  static std::atomic<int> nlocals{0};
  struct local {
    local() { ++nlocals; }
    local(const local&) = delete;
    local& operator=(const local&) = delete;
    ~local() {
      weft::yield();
      --nlocals;
    }
  };
  static weft::goroutine_local<local> mine;
  const int nbefore = nlocals;  // what they are copied from
  struct slow {
    std::atomic<int>* alive;
    explicit slow(std::atomic<int>& n) : alive(&n) { ++n; }
    slow(const slow& other) : alive(other.alive) { ++*alive; }
    slow& operator=(const slow&) = delete;
    ~slow() {
      weft::yield();
      --*alive;
    }
  };
  for (int round = 0; round < weft::test::scaled(50); ++round) {
    std::atomic<int> nalive{0};
    {
      weft::group g;
      for (int i = 0; i < 4; ++i) {
        g.go([one = slow(nalive)] { EXPECT_NE(&mine.get(), nullptr); });
      }
      g.wait();
      ASSERT_EQ(nalive, 0);
      ASSERT_EQ(nlocals, nbefore);
    }
    weft::wait_group wg;
    wg.go([one = slow(nalive)] { EXPECT_NE(&mine.get(), nullptr); });
    wg.wait();
    ASSERT_EQ(nalive, 0);
    ASSERT_EQ(nlocals, nbefore);
  }
}

TEST_FOR_PROCS(group, no_more_than_the_limit_run_at_once_and_as_many_as_that) {
  weft::group g;
  g.limit(3);
  weft::barrier three(3);
  std::atomic<int> nrunning{0};
  std::atomic<int> ntoo_many{0};
  std::atomic<int> ndone{0};
  for (int i = 0; i < 51; ++i) {
    g.go([&] {
      if (++nrunning > 3) ++ntoo_many;
      three.arrive_and_wait();
      --nrunning;
      ++ndone;
    });
  }
  g.wait();
  EXPECT_EQ(ndone, 51);
  EXPECT_EQ(ntoo_many, 0);
}

TEST_FOR_PROCS(group, try_go_says_no_when_there_is_no_room) {
  weft::group g;
  g.limit(1);
  weft::event release;
  EXPECT_TRUE(g.try_go([&] { release.wait(); }));
  EXPECT_FALSE(g.try_go([] { ADD_FAILURE() << "there was no room"; }));
  release.set();
  g.go([] {});
  g.wait();
}

TEST_FOR_PROCS(group, a_limit_comes_first_and_is_not_zero) {
  weft::group g;
  EXPECT_THROW(g.limit(0), std::invalid_argument);
  g.limit(SIZE_MAX);
  weft::group begun;
  begun.go([] {});
  EXPECT_THROW(begun.limit(1), std::logic_error);
}

TEST_FOR_PROCS(group, children_start_children) {
  std::atomic<int> n{0};
  weft::group g;
  g.go([&] {
    for (int i = 0; i < 10; ++i) {
      g.go([&] {
        ++n;
        g.go([&] { ++n; });
      });
    }
  });
  g.wait();
  EXPECT_EQ(n, 20);
}

TEST_FOR_PROCS(group, ends_with_its_parent) {
  auto [parent, cancel] = weft::with_cause(weft::background());
  weft::group g(parent);
  weft::test::comer child;
  g.go([&](const weft::context& ctx) {
    child.comes();
    ctx.done().recv();
  });
  ASSERT_TRUE(child.waits());
  cancel(std::runtime_error("from above"));
  g.wait();
  EXPECT_THROW(std::rethrow_exception(g.ctx().cause()), std::runtime_error);
  const weft::context null;
  EXPECT_THROW(weft::group{null}, std::invalid_argument);
}

TEST_FOR_PROCS(group, a_child_that_exits_is_a_failure) {
  weft::group g;
  g.go([] { weft::exit_goroutine(); });
  EXPECT_THROW(g.wait(), weft::goroutine_exited);
}

TEST_FOR_PROCS(group, a_limit_holds_though_children_fail) {
  weft::group g;
  g.limit(2);
  for (int i = 0; i < 20; ++i) g.go([] { throw std::runtime_error("each"); });
  EXPECT_EQ(failure_of(g), "each");
}

TEST_FOR_PROCS(group, serves_a_plain_thread) {
  std::atomic<int> n{0};
  std::thread([&] {
    weft::group g;
    for (int i = 0; i < 10; ++i) g.go([&] { ++n; });
    g.wait();
    EXPECT_EQ(n, 10);
  }).join();
  EXPECT_EQ(n, 10);
}

TEST_FOR_PROCS(group_race, many_fail_at_once) {
  for (int round = 0; round < weft::test::scaled(200); ++round) {
    weft::group g;
    for (int i = 0; i < 8; ++i) {
      g.go([i](const weft::context& ctx) {
        if (i % 2 == 0) throw std::runtime_error("even");
        ctx.done().recv();
      });
    }
    ASSERT_EQ(failure_of(g), "even");
  }
}

}  // namespace
