// parallel.cpp: parallel_for, parallel_map, worker_pool, single_flight.
#include <weft/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

namespace {

using namespace std::chrono_literals;

TEST_FOR_PROCS(parallel_for, calls_f_once_for_each_number) {
  for (const std::size_t n : {0, 1, 2, 7, 1000, 100'003}) {
    std::vector<std::atomic<std::uint8_t>> seen(n);
    weft::parallel_for(0, n, [&](std::size_t i) { ++seen[i]; });
    EXPECT_TRUE(std::ranges::all_of(seen, [](const auto& each) { return each == 1; })) << n;
  }
  std::atomic<std::int64_t> sum{0};
  weft::parallel_for(-50, 51, [&](int i) { sum += i; });
  EXPECT_EQ(sum, 0);
  weft::parallel_for(5, -5, [](int) { ADD_FAILURE() << "there are none"; });
  constexpr auto kLast = std::numeric_limits<std::int8_t>::max();
  std::atomic<int> count{0};
  weft::parallel_for(std::int8_t{-128}, kLast, [&](std::int8_t) { ++count; });
  EXPECT_EQ(count, 255) << "more than the type can count";
}

TEST_FOR_PROCS(parallel_for, calls_f_for_each_element) {
  std::vector<int> v(1000, 1);
  weft::parallel_for(v.begin(), v.end(), [](int& each) { ++each; });
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 2000);
  std::list<int> l(100, 1);
  weft::parallel_for({.workers = 3, .grain = 7}, l.begin(), l.end(), [](int& each) { ++each; });
  EXPECT_EQ(std::accumulate(l.begin(), l.end(), 0), 200);
}

TEST_FOR_PROCS(parallel_for, the_first_failure_is_rethrown_when_all_have_ended) {
  std::atomic<int> ninside{0};
  std::atomic<int> nbegun{0};
  const auto body = [&](int i) {
    ++ninside;
    ++nbegun;
    weft::yield();
    --ninside;
    if (i % 10 == 5) throw std::runtime_error("five");
  };
  EXPECT_THROW(weft::parallel_for({.workers = 4, .grain = 1}, 0, 100'000, body),
               std::runtime_error);
  EXPECT_EQ(ninside, 0);
  EXPECT_LT(nbegun, 100'000) << "no more was begun";
}

TEST_FOR_PROCS(parallel_for, one_that_exits_is_a_failure) {
  auto all = weft::spawn([] {
    weft::parallel_for({.workers = 4, .grain = 1}, 0, 100, [](int) { weft::exit_goroutine(); });
  });
  EXPECT_THROW(all.join(), weft::goroutine_exited);
}

TEST_FOR_PROCS(parallel_for, f_may_wait_and_loops_may_nest) {
  std::atomic<int> n{0};
  weft::parallel_for({.workers = 3}, 0, 10, [&](int) {
    weft::sleep_for(100us);
    weft::parallel_for(0, 10, [&](int) { ++n; });
  });
  EXPECT_EQ(n, 100);
}

TEST(parallel_for, uses_every_processor) {
  weft::test::run_on(2, [] {
    std::atomic<int> ninside{0};
    // Both must be inside at once, or neither gets on.
    weft::parallel_for({.grain = 1}, 0, 2, [&](int) {
      ++ninside;
      while (ninside < 2) {
      }
    });
    EXPECT_EQ(ninside, 2);
  });
}

TEST(parallel_for, needs_a_runtime) {
  EXPECT_THROW(weft::parallel_for({.workers = 2}, 0, 10, [](int) {}), weft::not_running);
}

TEST_FOR_PROCS(parallel_map, gives_the_results_in_order) {
  std::vector<int> in(1000);
  std::iota(in.begin(), in.end(), 0);
  const std::vector<std::string> out =
      weft::parallel_map(in, [](int i) { return std::to_string(i); });
  ASSERT_EQ(out.size(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], std::to_string(i));

  const std::vector<bool> bits = weft::parallel_map(in, [](int i) { return i % 2 == 0; });
  EXPECT_EQ(std::ranges::count(bits, true), 500);
  const auto owned = weft::parallel_map({.workers = 2}, in.begin(), in.begin() + 3,
                                        [](int i) { return std::make_unique<int>(i); });
  EXPECT_EQ(*owned.at(2), 2);
  EXPECT_TRUE(weft::parallel_map(std::vector<int>(), [](int i) { return i; }).empty());
  EXPECT_THROW((void)weft::parallel_map(
                   in, [](int i) { return i == 500 ? throw std::runtime_error("half") : i; }),
               std::runtime_error);
}

TEST_FOR_PROCS(worker_pool, does_what_it_is_given) {
  std::atomic<int> n{0};
  {
    weft::worker_pool pool(3, 2);
    for (int i = 0; i < 100; ++i) pool.post([&] { ++n; });
    auto sum = pool.submit([](int a, int b) { return a + b; }, 20, 22);
    EXPECT_EQ(sum.join(), 42);
    auto fails = pool.submit([] { throw std::runtime_error("thrown"); });
    EXPECT_THROW(fails.join(), std::runtime_error);
    pool.wait();
    EXPECT_EQ(n, 100);
    pool.post([&] { ++n; });
  }
  EXPECT_EQ(n, 101) << "its end does what is left";
}

TEST_FOR_PROCS(worker_pool, no_more_than_its_workers_work) {
  std::atomic<int> nrunning{0};
  std::atomic<int> ntoo_many{0};
  weft::worker_pool pool(2);
  for (int i = 0; i < 50; ++i) {
    pool.post([&] {
      if (++nrunning > 2) ++ntoo_many;
      weft::yield();
      --nrunning;
    });
  }
  pool.wait();
  EXPECT_EQ(ntoo_many, 0);
}

TEST_FOR_PROCS(worker_pool, pushes_back_when_there_is_no_room) {
  weft::event release;
  weft::worker_pool pool(1, 1);
  pool.post([&] { release.wait(); });
  pool.post([] {});  // perhaps not begun
  weft::test::comer third;
  auto posts = weft::spawn([&] {
    third.comes();
    pool.post([] {});
    pool.post([] {});
  });
  ASSERT_TRUE(third.waits());
  release.set();
  posts.join();
  pool.wait();
}

TEST_FOR_PROCS(worker_pool, takes_nothing_after_close) {
  weft::worker_pool pool(1);
  auto last = pool.submit([] { return 1; });
  pool.close();
  pool.close();
  EXPECT_THROW(pool.post([] {}), weft::closed_channel);
  EXPECT_THROW((void)pool.submit([] {}), weft::closed_channel);
  EXPECT_EQ(last.join(), 1) << "what was taken is done";
  pool.wait();
}

TEST_FOR_PROCS(worker_pool, survives_work_that_exits_its_goroutine) {
  weft::worker_pool pool(1);
  auto exits = pool.submit([] { weft::exit_goroutine(); });
  EXPECT_THROW(exits.join(), weft::goroutine_exited);
  pool.post([] { weft::exit_goroutine(); });
  EXPECT_EQ(pool.submit([] { return 2; }).join(), 2);
}

TEST_FOR_PROCS(worker_pool, serves_plain_threads) {
  weft::worker_pool pool(2, 1);
  std::atomic<int> n{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) pool.submit([&] { ++n; }).join();
    });
  }
  threads.clear();
  EXPECT_EQ(n, 60);
}

TEST_FOR_PROCS(single_flight, one_call_serves_all_who_wait) {
  weft::single_flight<std::string, std::string> flights;
  weft::event release;
  std::atomic<int> ncalls{0};
  std::atomic<int> nshared{0};
  std::vector<weft::test::comer> comers(10);
  std::vector<weft::join_handle<std::string>> results;
  for (weft::test::comer& each : comers) {
    results.push_back(weft::spawn([&] {
      bool was_shared = false;
      each.comes();
      std::string got = flights.call(
          "key",
          [&] {
            ++ncalls;
            release.wait();
            return std::string("fetched");
          },
          &was_shared);
      nshared += was_shared ? 1 : 0;
      return got;
    }));
  }
  for (const weft::test::comer& each : comers) ASSERT_TRUE(each.waits());
  release.set();
  for (auto& each : results) EXPECT_EQ(each.join(), "fetched");
  EXPECT_EQ(ncalls, 1);
  EXPECT_EQ(nshared, 10);
  bool was_shared = true;
  EXPECT_EQ(flights.call(
                "key", [] { return "again"; }, &was_shared),
            "again")
      << "it keeps nothing";
  EXPECT_FALSE(was_shared);
}

TEST_FOR_PROCS(single_flight, all_get_the_same_failure) {
  weft::single_flight<int, void> flights;
  weft::test::comer first;
  weft::test::comer second;
  weft::event release;
  const auto fails = [&] {
    release.wait();
    throw std::runtime_error("thrown once");
  };
  auto leads = weft::spawn([&] {
    first.comes();
    flights.call(1, fails);
  });
  ASSERT_TRUE(first.waits());
  auto follows = weft::spawn([&] {
    second.comes();
    flights.call(1, [] { ADD_FAILURE() << "one is under way"; });
  });
  ASSERT_TRUE(second.waits());
  flights.call(2, [] {});  // another key is another flight
  release.set();
  EXPECT_THROW(leads.join(), std::runtime_error);
  EXPECT_THROW(follows.join(), std::runtime_error);
}

TEST_FOR_PROCS(single_flight, who_is_left_alone_by_an_exit_learns_it) {
  weft::single_flight<int, int> flights;
  weft::test::comer first;
  weft::test::comer second;
  weft::event release;
  auto leads = weft::spawn([&] {
    first.comes();
    return flights.call(1, [&]() -> int {
      release.wait();
      weft::exit_goroutine();
    });
  });
  ASSERT_TRUE(first.waits());
  auto follows = weft::spawn([&] {
    second.comes();
    return flights.call(1, [] { return 1; });
  });
  ASSERT_TRUE(second.waits());
  release.set();
  EXPECT_THROW(leads.join(), weft::goroutine_exited);
  EXPECT_THROW(follows.join(), weft::goroutine_exited);
  EXPECT_EQ(flights.call(1, [] { return 2; }), 2);
}

TEST_FOR_PROCS(single_flight, forget_begins_anew) {
  weft::single_flight<int, int> flights;
  weft::test::comer first;
  weft::event release;
  auto old = weft::spawn([&] {
    first.comes();
    return flights.call(1, [&] {
      release.wait();
      return 1;
    });
  });
  ASSERT_TRUE(first.waits());
  flights.forget(1);
  EXPECT_EQ(flights.call(1, [] { return 2; }), 2);
  release.set();
  EXPECT_EQ(old.join(), 1);
}

TEST_FOR_PROCS(single_flight_race, many_keys_and_many_callers) {
  weft::single_flight<int, int> flights;
  std::atomic<int> nwrong{0};
  std::array<std::atomic<int>, 4> inside{};
  weft::wait_group wg;
  for (int i = 0; i < 8; ++i) {
    wg.go([&] {
      for (int k = 0; k < weft::test::scaled(500); ++k) {
        const int key = k % 4;
        const int got = flights.call(key, [&] {
          if (++inside.at(static_cast<std::size_t>(key)) != 1) ++nwrong;
          weft::yield();
          --inside.at(static_cast<std::size_t>(key));
          return key * 10;
        });
        if (got != key * 10) ++nwrong;
      }
    });
  }
  wg.wait();
  EXPECT_EQ(nwrong, 0);
}

}  // namespace
