// stacks.cpp: goroutine stacks as a program sees them (B104-B109, B112). Overflow is fatal and stands in tests/death.
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include <weft/weft.hpp>

#include "os/clock.hpp"
#include "sched/scavenge.hpp"
#include "stack/stack.hpp"
#include "stack/test_support.hpp"
#include "support/for_procs.hpp"
#include "support/on_a_thread.hpp"

namespace {

std::uintptr_t stack_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// Goes down until `bytes` below the caller's frame are in use, writes to every page on the way, yields at the bottom and
// checks on the way up that nothing was touched. The sum of what it found.
[[gnu::noinline]] std::uint64_t go_down(std::uintptr_t from, std::size_t bytes, unsigned depth,
                                        unsigned every) {
  volatile std::uint64_t frame[120];
  for (unsigned i = 0; i < 120; ++i) frame[i] = depth * 1000u + i;
  std::uint64_t below = 0;
  if (from - stack_pointer() + sizeof frame < bytes) {
    below = go_down(from, bytes, depth + 1, every);
  } else {
    weft::yield();
  }
  if (every != 0 && depth % every == 0) weft::yield();
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < 120; ++i) {
    if (frame[i] != depth * 1000u + i) return 0;
    sum += 1;
  }
  return below + sum;
}

// What a goroutine of default size may use: the layer's own figure.
std::size_t default_stack() { return weft::stack::default_bytes(); }

// B105
TEST_FOR_PROCS(stack, nine_tenths_of_it_can_be_used) {
  std::vector<weft::join_handle<std::uint64_t>> hs;
  for (int i = 0; i < 10; ++i) {
    hs.push_back(
        weft::spawn([] { return go_down(stack_pointer(), default_stack() * 9 / 10, 1, 50); }));
  }
  for (auto& h : hs) EXPECT_GT(h.join(), 100u);
}

TEST_FOR_PROCS(stack, of_many_sizes_can_be_used_to_nine_tenths) {
  for (std::size_t bytes = std::size_t{16} << 10; bytes <= std::size_t{16} << 20; bytes *= 2) {
    for (const std::size_t size : {bytes, bytes + 1, bytes + bytes / 2}) {
      const std::size_t wanted = size < (std::size_t{64} << 10) ? size / 2 : size * 9 / 10;
      auto h = weft::spawn({.stack_size = size},
                           [wanted] { return go_down(stack_pointer(), wanted, 1, 0); });
      EXPECT_GT(h.join(), 0u) << size;
    }
  }
}

TEST_FOR_PROCS(stack, of_one_gib_can_be_had_and_used) {
  if (weft::test::kIsTsan || weft::test::kIsAsan) GTEST_SKIP() << "the shadow of a gigabyte";
  auto h = weft::spawn({.stack_size = std::size_t{1} << 30},
                       [] { return go_down(stack_pointer(), std::size_t{64} << 20, 1, 0); });
  EXPECT_GT(h.join(), 0u);
}

TEST_FOR_PROCS(stack, recursion_at_many_depths_works_with_go_and_closures) {
  struct helper {
    static int down(int n) {
      volatile char pad[256];
      pad[0] = static_cast<char>(n);
      if (n == 0) return weft::spawn([] { return 1; }).join();
      if (n % 40 == 0)
        return down(n - 1) + weft::spawn([n] { return n; }).join() - n + (pad[0] - pad[0]);
      return down(n - 1) + (pad[0] - pad[0]);
    }
  };
  weft::wait_group wg;
  for (int depth = 0; depth <= 200; depth += 20)
    wg.go([depth] { EXPECT_EQ(helper::down(depth), 1); });
  wg.wait();
}

TEST(stack, of_main_has_its_own_size) {
  weft::test::run_with({.max_procs = 1, .main_stack_size = std::size_t{32} << 20}, [] {
    EXPECT_GT(go_down(stack_pointer(), std::size_t{28} << 20, 1, 0), 0u);
  });
  weft::test::run_on(1,
                     [] { EXPECT_GT(go_down(stack_pointer(), std::size_t{7} << 20, 1, 0), 0u); });
}

TEST_FOR_PROCS(stack, is_aligned_as_the_abi_says) {
  for (int i = 0; i < 50; ++i) {
    weft::spawn([] {
      alignas(16) volatile char a[16];
      alignas(64) volatile char b[64];
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&a) % 16, 0u);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&b) % 64, 0u);
      EXPECT_EQ(stack_pointer() % 16, 0u);  // rbp after the push
    }).join();
  }
}

TEST_FOR_PROCS(stack, two_goroutines_never_share_one) {
  // Everyone writes its own mark all over its stack, waits for the others, and looks.
  constexpr int kCount = 50;
  weft::wait_group written;
  weft::wait_group wg;
  written.add(kCount);
  for (int i = 0; i < kCount; ++i) {
    wg.go([&, i] {
      volatile int mine[1000];
      for (auto& m : mine) m = i;
      written.done();
      written.wait();
      for (const auto& m : mine) ASSERT_EQ(m, i);
    });
  }
  wg.wait();
}

// B104
TEST_FOR_PROCS(stack, batches_of_goroutines_use_the_same_stacks_again) {
  const auto batch = [] {
    weft::event go_on;
    weft::wait_group wg;
    for (int i = 0; i < 200; ++i) {
      wg.go([&] {
        char used[8192];
        std::memset(used, 1, sizeof used);
        asm volatile("" : : "r"(used) : "memory");
        go_on.wait();
      });
    }
    go_on.set();
    wg.wait();
    return weft::test::eventually([] { return weft::num_goroutines() == 1; });
  };
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(batch());  // each P may keep some for itself
  const auto stacks = weft::stats().stacks;
  const auto resident = weft::stack::test::resident_bytes();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(batch());
  EXPECT_LE(weft::stats().stacks, std::max<std::size_t>(stacks, 201) + 4 * 64)
      << "10,000 goroutines, never more than 200 at a time";
  if (!weft::stack::test::kIsSanitized) {
    EXPECT_LT(weft::stack::test::resident_bytes(), resident + (std::size_t{8} << 20));
  }
}

TEST_FOR_PROCS(stack, of_odd_sizes_are_used_again_too) {
  const auto batch = [] {
    for (int i = 0; i < 50; ++i)
      weft::spawn({.stack_size = std::size_t{1} << 20}, [] { weft::yield(); }).join();
    return weft::test::eventually([] { return weft::num_goroutines() == 1; });
  };
  ASSERT_TRUE(batch());
  const auto stacks = weft::stats().stacks;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(batch());
  EXPECT_LE(weft::stats().stacks, stacks + 8);
}

// A new round of the scavenger's, each time: it remembers when it made the last one, also from test to test. On a plain thread, as sysmon's is.
void scavenge() {
  static std::int64_t then_ns = weft::os::now_ns();
  then_ns += 60 * weft::os::kSecond;
  weft::test::on_a_thread([] { weft::sched::scavenge(then_ns); });
}

// B106: deep use, a long wait, the scavenger, then more use: what is live stays.
TEST_FOR_PROCS(stack, the_scavenger_leaves_what_a_parked_goroutine_needs) {
  weft::event go_on;
  weft::wait_group parked;
  parked.add(4);
  std::vector<weft::join_handle<std::uint64_t>> hs;
  struct helper {
    // A live frame above, a deep dive that is over, then the wait.
    static std::uint64_t run(weft::event& go_on, weft::wait_group& parked) {
      volatile std::uint64_t live[600];
      for (unsigned i = 0; i < 600; ++i) live[i] = i * 7;
      const std::uint64_t first = go_down(stack_pointer(), default_stack() * 7 / 10, 1, 0);
      parked.done();
      go_on.wait();
      for (unsigned i = 0; i < 600; ++i) {
        if (live[i] != i * 7) return 0;
      }
      const std::uint64_t second = go_down(stack_pointer(), default_stack() * 7 / 10, 1, 0);
      return first == second ? second : 0;
    }
  };
  for (int i = 0; i < 4; ++i) hs.push_back(weft::spawn([&] { return helper::run(go_on, parked); }));
  parked.wait();
  for (int i = 0; i < 20; ++i) weft::yield();  // until they have really left their stacks
  weft::test::on_a_thread([] {});              // a thread has memory of its own, the first time
  const auto resident = weft::stack::test::resident_bytes();
  // As if minutes had passed: one round marks those that wait, the next sees to their stacks. One may not have left its own yet.
  const auto scavenge_twice = [&] {
    scavenge();
    scavenge();
    return weft::stack::test::resident_bytes() + 2 * default_stack() < resident;
  };
  // What a sanitizer or an emulator has in memory is not what the program has.
  if (weft::stack::test::kIsSanitized || weft::stack::test::is_emulated()) {
    scavenge_twice();
  } else {
    EXPECT_TRUE(weft::test::eventually(scavenge_twice));
  }
  go_on.set();
  for (auto& h : hs) EXPECT_GT(h.join(), 0u);
}

TEST(stack_race, the_scavenger_and_wakers_take_turns) {
  weft::test::run_on(2, [] {
    std::atomic<bool> stop{false};
    weft::wait_group wg;
    weft::event ping;
    weft::event pong;
    wg.go([&] {
      for (int i = 0; i < weft::test::scaled(2000); ++i) {
        ping.set();
        pong.wait();
        pong.reset();
      }
      stop = true;
      ping.set();
    });
    wg.go([&] {
      while (!stop) {
        ping.wait();
        ping.reset();
        pong.set();
      }
    });
    while (!stop) {
      scavenge();
      weft::yield();
    }
    wg.wait();
  });
}

// B107: a pointer into a parked goroutine's stack is good: stacks never move.
TEST_FOR_PROCS(stack, what_others_write_into_a_parked_goroutines_frame_arrives) {
  for (int i = 0; i < 100; ++i) {
    weft::spawn([i] {
      int here = 0;
      weft::event written;
      weft::go([&] {
        here = i;
        written.set();
      });
      written.wait();
      EXPECT_EQ(here, i);
    }).join();
  }
}

struct walked {
  std::vector<std::uintptr_t> pcs;
  static _Unwind_Reason_Code step(_Unwind_Context* context, void* p) {
    auto& w = *static_cast<walked*>(p);
    w.pcs.push_back(_Unwind_GetIP(context));
    return w.pcs.size() < 500 ? _URC_NO_REASON : _URC_NORMAL_STOP;
  }
};

[[gnu::noinline]] std::size_t depth_of_stack() {
  walked w;
  const _Unwind_Reason_Code end = _Unwind_Backtrace(&walked::step, &w);
  return end == _URC_END_OF_STACK ? w.pcs.size() : 0;
}
[[gnu::noinline]] std::size_t depth_below(int n) {
  const std::size_t d = n == 0 ? depth_of_stack() : depth_below(n - 1);
  asm volatile("" : : "r"(&d) : "memory");  // no tail call
  return d;
}

// B109
TEST_FOR_PROCS(stack, can_be_walked_and_ends_at_the_entry) {
  const auto shallow = weft::spawn([] { return depth_below(0); }).join();
  const auto deep = weft::spawn([] { return depth_below(30); }).join();
  EXPECT_GT(shallow, 1u) << "0: the walk did not end properly";
  EXPECT_EQ(deep, shallow + 30);
  auto moved = weft::spawn([] {
    weft::yield();
    return depth_below(30);
  });
  EXPECT_EQ(moved.join(), deep);
}

TEST_FOR_PROCS(stack, can_be_walked_by_its_frame_pointers) {
  auto h = weft::spawn([] {
    const auto* frame = static_cast<void* const*>(__builtin_frame_address(0));
    int n = 0;
    while (frame != nullptr && n < 100) {
      frame = static_cast<void* const*>(frame[0]);
      ++n;
    }
    return n;
  });
  const int n = h.join();
  EXPECT_GT(n, 0);
  EXPECT_LT(n, 100) << "the chain does not end";
}

// B112
TEST_FOR_PROCS(stack, can_be_walked_inside_and_after_a_catch) {
  auto h = weft::spawn([] {
    const auto before = depth_below(3);
    std::size_t inside = 0;
    try {
      throw 1;
    } catch (int) {
      inside = depth_below(3);
    }
    EXPECT_EQ(inside, before);
    EXPECT_EQ(depth_below(3), before);
    return before;
  });
  EXPECT_GT(h.join(), 3u);
}

TEST(stack, thousands_of_walks_at_the_same_time_all_end) {
  weft::test::run_on(4, [] {
    weft::wait_group wg;
    for (int i = 0; i < 100; ++i) {
      wg.go([] {
        for (int n = 0; n < 20; ++n) {
          ASSERT_GT(depth_below(n), 0u);
          weft::yield();
        }
      });
    }
    wg.wait();
  });
}

}  // namespace
