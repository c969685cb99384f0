// once.cpp: weft::once (B295; B296 decided as the standard does: who throws has not done it).
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

// B295
TEST_FOR_PROCS(once, runs_exactly_once_and_all_callers_wait_for_its_end) {
  for (int round = 0; round < weft::test::scaled(200); ++round) {
    weft::once o;
    int made = 0;
    std::atomic<int> nearly{0};
    weft::wait_group wg;
    for (int i = 0; i < 10; ++i) {
      wg.go([&] {
        o.call([&] {
          weft::yield();
          ++made;
        });
        if (made != 1) ++nearly;
      });
    }
    wg.wait();
    ASSERT_EQ(made, 1);
    ASSERT_EQ(nearly, 0);
    ASSERT_TRUE(o.is_done());
  }
}

// B296
TEST_FOR_PROCS(once, one_that_throws_has_not_done_it_and_the_next_does) {
  weft::once o;
  EXPECT_THROW(o.call([] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_FALSE(o.is_done());
  int made = 0;
  o.call([&] { ++made; });
  o.call([&] { ++made; });
  EXPECT_EQ(made, 1);
}

TEST_FOR_PROCS(once, those_who_wait_for_one_that_throws_take_over_one_after_the_other) {
  weft::once o;
  std::atomic<int> ncalled{0};
  std::atomic<int> nthrown{0};
  std::atomic<int> nstarted{0};
  weft::wait_group wg;
  for (int i = 0; i < 10; ++i) {
    wg.go([&] {
      ++nstarted;
      try {
        o.call([&] {
          while (nstarted < 10) weft::yield();
          if (++ncalled < 5) throw std::runtime_error("not yet");
        });
      } catch (const std::runtime_error&) {
        ++nthrown;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(ncalled, 5);
  EXPECT_EQ(nthrown, 4);
  EXPECT_TRUE(o.is_done());
}

TEST_FOR_PROCS(once, one_that_ends_its_goroutine_has_not_done_it) {
  weft::once o;
  EXPECT_THROW(weft::spawn([&] { o.call([] { weft::exit_goroutine(); }); }).join(),
               weft::goroutine_exited);
  EXPECT_FALSE(o.is_done());
  int made = 0;
  o.call([&] { ++made; });
  EXPECT_EQ(made, 1);
}

TEST_FOR_PROCS(once, goroutines_and_plain_threads_share_one) {
  for (int round = 0; round < weft::test::scaled(50); ++round) {
    weft::once o;
    int made = 0;
    std::atomic<int> nearly{0};
    const auto call = [&] {
      o.call([&] {
        weft::yield();
        ++made;
      });
      if (made != 1) ++nearly;
    };
    std::thread a(call);
    std::thread b(call);
    weft::wait_group wg;
    for (int i = 0; i < 4; ++i) wg.go(call);
    wg.wait();
    weft::blocking([&] {
      a.join();
      b.join();
    });
    ASSERT_EQ(made, 1);
    ASSERT_EQ(nearly, 0);
  }
}

TEST_FOR_PROCS(once, one_may_call_another) {
  weft::once inner;
  weft::once outer;
  int made = 0;
  outer.call([&] { inner.call([&] { ++made; }); });
  inner.call([&] { ++made; });
  EXPECT_EQ(made, 1);
}

}  // namespace
