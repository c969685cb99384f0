// identity.cpp: who am I: ids, names, goroutine-local values, the count of goroutines, and thread-locals after a move.
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/pressure.hpp"

namespace {

// B070
TEST_FOR_PROCS(identity, the_main_goroutine_is_number_1) {
  EXPECT_EQ(weft::this_goroutine::id(), 1u);
  weft::yield();
  EXPECT_EQ(weft::this_goroutine::id(), 1u);
}

TEST(identity, the_main_goroutine_is_number_1_in_every_runtime) {
  for (int i = 0; i < 5; ++i) {
    weft::test::run_on(2, [] {
      EXPECT_EQ(weft::this_goroutine::id(), 1u);
      EXPECT_NE(weft::spawn([] { return weft::this_goroutine::id(); }).join(), 1u);
    });
  }
}

TEST_FOR_PROCS(identity, ids_are_unique_and_never_used_again) {
  std::set<std::uint64_t> seen{weft::this_goroutine::id()};
  for (int batch = 0; batch < 10; ++batch) {
    std::vector<weft::join_handle<std::uint64_t>> hs;
    for (int i = 0; i < 50; ++i)
      hs.push_back(weft::spawn([] {
        weft::yield();
        return weft::this_goroutine::id();
      }));
    for (auto& h : hs) {
      const auto id = h.join();
      EXPECT_TRUE(seen.insert(id).second) << id << " came twice";
    }
  }
}

TEST_FOR_PROCS(identity, an_id_stays_the_same_for_life) {
  weft::wait_group wg;
  for (int i = 0; i < 20; ++i) {
    wg.go([] {
      const auto id = weft::this_goroutine::id();
      for (int n = 0; n < 50; ++n) {
        weft::yield();
        ASSERT_EQ(weft::this_goroutine::id(), id);
      }
    });
  }
  wg.wait();
}

TEST_FOR_PROCS(identity, a_name_is_given_at_the_start_or_later) {
  EXPECT_EQ(weft::this_goroutine::name(), "");
  EXPECT_EQ(weft::spawn({.name = "reader"}, [] { return weft::this_goroutine::name(); }).join(),
            "reader");
  auto h = weft::spawn([] {
    weft::this_goroutine::set_name("later");
    weft::yield();
    return weft::this_goroutine::name();
  });
  EXPECT_EQ(h.join(), "later");
  EXPECT_EQ(weft::this_goroutine::name(), "");
}

TEST_FOR_PROCS(identity, a_reused_goroutine_does_not_inherit_a_name) {
  for (int i = 0; i < 100; ++i) weft::spawn({.name = "old"}, [] {}).join();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(weft::spawn([] { return weft::this_goroutine::name(); }).join(), "");
  }
}

// B069
TEST_FOR_PROCS(num_goroutines, a_fresh_program_has_exactly_one) {
  EXPECT_EQ(weft::num_goroutines(), 1u);
}

TEST(num_goroutines, is_zero_without_a_runtime) {
  EXPECT_EQ(weft::num_goroutines(), 0u);
  weft::test::run_on(1, [] { weft::go([] {}); });
  EXPECT_EQ(weft::num_goroutines(), 0u);
}

TEST(num_goroutines, does_not_count_those_that_an_earlier_runtime_abandoned) {
  for (int i = 0; i < 3; ++i) {
    weft::test::run_on(2, [] {
      EXPECT_EQ(weft::num_goroutines(), 1u);
      EXPECT_EQ(weft::stats().goroutines, 1u);
      static weft::event never;
      for (int n = 0; n < 10; ++n) weft::go([] { never.wait(); });
      EXPECT_EQ(weft::num_goroutines(), 11u);
    });
  }
}

// B068
TEST_FOR_PROCS(num_goroutines, counts_those_that_have_not_ended) {
  weft::event may_end;
  weft::wait_group wg;
  for (int i = 0; i < 100; ++i) wg.go([&] { may_end.wait(); });
  EXPECT_EQ(weft::num_goroutines(), 101u);
  may_end.set();
  wg.wait();
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }))
      << weft::num_goroutines();
}

TEST_FOR_PROCS(num_goroutines, counts_them_from_go_on_whether_they_have_begun_or_not) {
  weft::event may_end;
  for (std::size_t i = 1; i <= 300; ++i) {  // more than the ring holds
    weft::go([&] { may_end.wait(); });
    ASSERT_EQ(weft::num_goroutines(), 1 + i);
  }
  may_end.set();
  EXPECT_TRUE(weft::test::eventually([] { return weft::num_goroutines() == 1; }));
}

weft::goroutine_local<int> number{7};
weft::goroutine_local<std::string> text;

TEST_FOR_PROCS(goroutine_local, each_goroutine_has_its_own_copy_of_the_initial_value) {
  *number = 1;
  weft::wait_group wg;
  for (int i = 0; i < 50; ++i) {
    wg.go([i] {
      EXPECT_EQ(*number, 7);
      EXPECT_TRUE(text->empty());
      *number = i;
      *text = std::to_string(i);
      for (int n = 0; n < 20; ++n) {
        weft::yield();
        ASSERT_EQ(*number, i);
        ASSERT_EQ(*text, std::to_string(i));
      }
    });
  }
  wg.wait();
  EXPECT_EQ(*number, 1);
}

TEST_FOR_PROCS(goroutine_local, values_end_with_their_goroutine_before_join_returns) {
  static std::atomic<int> alive{0};
  struct counted {
    counted() { ++alive; }
    counted(const counted&) { ++alive; }
    ~counted() { --alive; }
  };
  static const weft::goroutine_local<counted> local;
  const int initial = alive;
  auto h = weft::spawn([] {
    (void)local.get();
    return alive.load();
  });
  EXPECT_EQ(h.join(), initial + 1);
  EXPECT_EQ(alive, initial);
  auto exits = weft::spawn([]() {
    (void)local.get();
    weft::exit_goroutine();
  });
  EXPECT_THROW(exits.join(), weft::goroutine_exited);
  EXPECT_EQ(alive, initial);
  weft::event ran;
  weft::go([&] {
    (void)local.get();
    ran.set();
  });
  ran.wait();
  EXPECT_TRUE(weft::test::eventually([&] { return alive == initial; }));
}

TEST_FOR_PROCS(goroutine_local, a_destructor_may_use_other_locals) {
  static std::atomic<int> sum{0};
  sum = 0;
  struct last {
    int value = 3;
    ~last() { sum += value; }
  };
  struct first {
    bool is_used = true;
    ~first() { sum += 10 * weft::this_goroutine::local<last>(&sum).value; }
  };
  weft::spawn([] { weft::this_goroutine::local<first>(&sum).is_used = true; }).join();
  EXPECT_EQ(sum, 33);
}

TEST_FOR_PROCS(goroutine_local, move_only_types_and_keys_of_several_types_work) {
  weft::spawn([] {
    static const int key = 0;
    auto& p = weft::this_goroutine::local<std::unique_ptr<int>>(&key);
    EXPECT_EQ(p, nullptr);
    p = std::make_unique<int>(3);
    weft::this_goroutine::local<int>(&key) = 4;
    weft::yield();
    EXPECT_EQ(*weft::this_goroutine::local<std::unique_ptr<int>>(&key), 3);
    EXPECT_EQ(weft::this_goroutine::local<int>(&key), 4);
    weft::goroutine_local<std::unique_ptr<int>> object;
    EXPECT_EQ(*object, nullptr);
    EXPECT_EQ(&weft::this_goroutine::local(object), &*object);
  }).join();
}

// B037, HAZARD 43 and 44: through functions that are not inlined, as the documentation says. The runtime itself must never mix
// threads up: each goroutine asks, after every yield, on which thread it is, by three ways that must agree.
thread_local int my_tid = 0;
[[gnu::noinline]] int tid_by_thread_local() {
  asm volatile("" ::: "memory");
  if (my_tid == 0) my_tid = weft::test::thread_id();
  return my_tid;
}
[[gnu::noinline]] int* errno_address() {
  asm volatile("" ::: "memory");
  return &errno;
}

TEST_FOR_PROCS(identity, thread_locals_are_those_of_the_thread_a_goroutine_is_on) {
  std::atomic<int> moves{0};
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([&] {
      int last = weft::test::thread_id();
      for (int n = 0; n < weft::test::scaled(500); ++n) {
        weft::yield();
        const int tid = weft::test::thread_id();
        ASSERT_EQ(tid_by_thread_local(), tid);
        *errno_address() = tid;
        ASSERT_EQ(*errno_address(), tid);
        moves += tid != last;
        last = tid;
      }
    });
  }
  wg.wait();
  if (weft::test::is_migrating()) {
    EXPECT_EQ(moves, 8 * weft::test::scaled(500));
  }
}

// The runtime's own thread-local: after a move it must know the goroutine, not the one that ran there before.
TEST_FOR_PROCS(identity, the_runtime_knows_the_goroutine_after_it_moved) {
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([] {
      const auto id = weft::this_goroutine::id();
      *number = static_cast<int>(id);
      for (int n = 0; n < weft::test::scaled(300); ++n) {
        weft::event e;
        weft::go([&e] { e.set(); });
        e.wait();
        ASSERT_EQ(weft::this_goroutine::id(), id);
        ASSERT_EQ(*number, static_cast<int>(id));
      }
    });
  }
  wg.wait();
}

std::int64_t clock_ns(clockid_t which) {
  timespec t{};
  ::clock_gettime(which, &t);
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

// Stays on this thread: nothing in it waits.
void use_cpu(std::int64_t ns) {
  const std::int64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began < ns) continue;
}

void each_goroutine_has_its_own_cpu_time() {
  constexpr std::int64_t kPiece = 1'000'000;
  constexpr int kPieces = 5;
  const std::int64_t began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  std::vector<weft::join_handle<std::int64_t>> busy;
  for (int i = 0; i < 3; ++i)
    busy.push_back(weft::spawn([] {
      for (int n = 0; n < kPieces; ++n) {
        use_cpu(kPiece);
        weft::yield();
      }
      return weft::this_goroutine::cpu_time().count();
    }));
  auto lazy = weft::spawn([] {
    for (int n = 0; n < kPieces; ++n) weft::yield();
    return weft::this_goroutine::cpu_time().count();
  });
  std::int64_t sum = 0;
  for (auto& each : busy) {
    const std::int64_t used = each.join();
    EXPECT_GE(used, kPieces * kPiece);
    sum += used;
  }
  const std::int64_t used = lazy.join();
  EXPECT_GT(used, 0);
  EXPECT_LT(used, kPieces * kPiece) << "it has computed nothing";
  EXPECT_LE(sum + used, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began);
}

void cpu_time_is_counted(unsigned nprocs) {
  const weft::test::debug_setting mode("cputime=1");
  weft::test::run_on(nprocs, each_goroutine_has_its_own_cpu_time);
}
TEST(cpu_time, is_that_of_the_goroutine_on_1_p) { cpu_time_is_counted(1); }
TEST(cpu_time, is_that_of_the_goroutine_on_2_ps) { cpu_time_is_counted(2); }
TEST(cpu_time, is_that_of_the_goroutine_on_4_ps) { cpu_time_is_counted(4); }

TEST(cpu_time, is_zero_where_nobody_asks_for_it) {
  weft::test::run_on(1, [] {
    use_cpu(1'000'000);
    weft::yield();
    EXPECT_EQ(weft::this_goroutine::cpu_time().count(), 0);
  });
  EXPECT_EQ(weft::this_goroutine::cpu_time().count(), 0) << "on a plain thread";
}

}  // namespace
