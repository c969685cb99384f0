// condition_variable.cpp: weft::condition_variable (B284 to B287; B289 is a compile_fail test).
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"

namespace {

using namespace std::chrono_literals;

// B284
TEST_FOR_PROCS(condition_variable, notify_one_wakes_exactly_one_at_a_time) {
  weft::mutex m;
  weft::condition_variable cv;
  constexpr int kWaiters = 5;
  int nwaiting = 0;
  int nwoken = 0;
  weft::wait_group wg;
  for (int i = 0; i < kWaiters; ++i) {
    wg.go([&] {
      std::unique_lock hold(m);
      ++nwaiting;
      cv.wait(hold);
      ++nwoken;
    });
  }
  const auto read = [&](const int& value) {
    const std::lock_guard hold(m);
    return value;
  };
  ASSERT_TRUE(weft::test::eventually([&] { return read(nwaiting) == kWaiters; }));
  for (int n = 1; n <= kWaiters; ++n) {
    {
      const std::lock_guard hold(m);
      cv.notify_one();
    }
    ASSERT_TRUE(weft::test::eventually([&] { return read(nwoken) == n; }));
    for (int i = 0; i < 20; ++i) weft::yield();
    ASSERT_EQ(read(nwoken), n) << "one and no more";
  }
  wg.wait();
  cv.notify_one();  // nobody is there
}

// B285: whoever is notified first has waited longest.
TEST_FOR_PROCS(condition_variable, notifies_reach_waiters_in_the_order_in_which_they_came) {
  weft::mutex m;
  weft::condition_variable cv;
  constexpr int kWaiters = 50;
  int nwaiting = 0;
  std::vector<int> order;
  weft::wait_group wg;
  for (int i = 0; i < kWaiters; ++i) {
    wg.go([&] {
      std::unique_lock hold(m);
      const int me = nwaiting++;
      cv.wait(hold);
      order.push_back(me);
    });
  }
  const auto nordered = [&] {
    const std::lock_guard hold(m);
    return order.size();
  };
  ASSERT_TRUE(weft::test::eventually([&] {
    const std::lock_guard hold(m);
    return nwaiting == kWaiters;
  }));
  for (std::size_t n = 1; n <= kWaiters; ++n) {
    cv.notify_one();
    ASSERT_TRUE(weft::test::eventually([&] { return nordered() == n; }));
  }
  wg.wait();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// B286
TEST_FOR_PROCS(condition_variable, notify_all_wakes_all_again_and_again) {
  weft::mutex m;
  weft::condition_variable cv;
  constexpr int kWaiters = 20;
  int nwaiting = 0;
  int generation = 0;
  bool stop = false;
  weft::wait_group wg;
  for (int i = 0; i < kWaiters; ++i) {
    wg.go([&] {
      std::unique_lock hold(m);
      while (!stop) {
        const int mine = generation;
        ++nwaiting;
        cv.wait(hold, [&] { return generation != mine; });
      }
    });
  }
  for (int round = 0; round < weft::test::scaled(100); ++round) {
    ASSERT_TRUE(weft::test::eventually([&] {
      const std::lock_guard hold(m);
      return nwaiting == kWaiters;
    })) << "every one of them came back";
    const std::lock_guard hold(m);
    nwaiting = 0;
    ++generation;
    stop = round + 1 == weft::test::scaled(100);
    cv.notify_all();
  }
  wg.wait();
}

// B287: one is notified; another that begins to wait meanwhile does not take it away.
TEST_FOR_PROCS(condition_variable, a_notify_is_not_stolen_by_one_that_came_later) {
  for (int round = 0; round < weft::test::scaled(100); ++round) {
    weft::mutex m;
    weft::condition_variable cv;
    bool first_waits = false;
    std::atomic<bool> first_is_through{false};
    auto first = weft::spawn([&] {
      std::unique_lock hold(m);
      first_waits = true;
      cv.wait(hold);
      first_is_through = true;
    });
    ASSERT_TRUE(weft::test::eventually([&] {
      const std::lock_guard hold(m);
      return first_waits;
    }));
    std::unique_lock hold(m);
    cv.notify_one();
    auto second = weft::spawn([&] {
      std::unique_lock mine(m);
      cv.wait(mine);
    });
    hold.unlock();
    ASSERT_TRUE(weft::test::eventually([&] { return first_is_through.load(); }));
    first.join();
    while (!second.wait_for(1ms)) cv.notify_all();
    second.join();
  }
}

// No wake-up is lost between unlocking and parking: each side waits for the other, a great many times.
TEST_FOR_PROCS(condition_variable, two_that_take_turns_never_miss_one_another) {
  weft::mutex m;
  weft::condition_variable cv;
  int turn = 0;
  constexpr int kRounds = weft::test::scaled(5000);
  const auto play = [&](int me) {
    for (int i = 0; i < kRounds; ++i) {
      std::unique_lock hold(m);
      cv.wait(hold, [&] { return turn == me; });
      turn = 1 - me;
      cv.notify_one();
    }
  };
  auto other = weft::spawn([&] { play(1); });
  play(0);
  other.join();
  EXPECT_EQ(turn, 0);
}

TEST_FOR_PROCS(condition_variable, goroutines_and_plain_threads_pass_work_to_one_another) {
  weft::mutex m;
  weft::condition_variable has_some;
  weft::condition_variable has_room;
  std::deque<int> queue;
  constexpr int kEach = weft::test::scaled(2000);
  long sum = 0;
  const auto produce = [&] {
    for (int i = 1; i <= kEach; ++i) {
      std::unique_lock hold(m);
      has_room.wait(hold, [&] { return queue.size() < 4; });
      queue.push_back(i);
      has_some.notify_one();
    }
  };
  const auto consume = [&] {
    for (int i = 0; i < kEach; ++i) {
      std::unique_lock hold(m);
      has_some.wait(hold, [&] { return !queue.empty(); });
      sum += queue.front();
      queue.pop_front();
      has_room.notify_one();
    }
  };
  std::thread producer(produce);
  std::thread consumer(consume);
  weft::wait_group wg;
  wg.go(produce);
  wg.go(consume);
  wg.wait();
  weft::blocking([&] {
    producer.join();
    consumer.join();
  });
  EXPECT_EQ(sum, 2L * kEach * (kEach + 1) / 2);
}

TEST_FOR_PROCS(condition_variable, wait_for_ends_when_the_time_is_over_with_the_lock_held) {
  weft::mutex m;
  weft::condition_variable cv;
  std::unique_lock hold(m);
  const auto began = weft::clock::now();
  EXPECT_EQ(cv.wait_for(hold, 2ms), std::cv_status::timeout);
  EXPECT_GE(weft::clock::now() - began, 2ms);
  EXPECT_FALSE(m.try_lock());
  EXPECT_EQ(cv.wait_until(hold, std::chrono::system_clock::now() + 1ms), std::cv_status::timeout);
  EXPECT_EQ(cv.wait_for(hold, -1s), std::cv_status::timeout);
  EXPECT_FALSE(cv.wait_for(hold, 1ms, [] { return false; }));
  EXPECT_TRUE(cv.wait_for(hold, 0s, [] { return true; }));
  EXPECT_FALSE(m.try_lock());
  cv.notify_one();  // those who gave up are not there any more
}

TEST_FOR_PROCS(condition_variable, a_notify_in_time_is_no_timeout) {
  weft::mutex m;
  weft::condition_variable cv;
  bool is_ready = false;
  bool waits = false;
  auto h = weft::spawn([&] {
    std::unique_lock hold(m);
    waits = true;
    const auto how = cv.wait_for(hold, 1h);
    return how == std::cv_status::no_timeout && is_ready;
  });
  ASSERT_TRUE(weft::test::eventually([&] {
    const std::lock_guard hold(m);
    return waits;
  }));
  {
    const std::lock_guard hold(m);
    is_ready = true;
  }
  cv.notify_one();
  EXPECT_TRUE(h.join());
}

TEST_FOR_PROCS(condition_variable, timed_waits_of_plain_threads) {
  weft::mutex m;
  weft::condition_variable cv;
  bool timed_out = false;
  bool notified = false;
  std::atomic<bool> waits{false};
  std::thread t([&] {
    std::unique_lock hold(m);
    timed_out = cv.wait_for(hold, 1ms) == std::cv_status::timeout;
    waits = true;
    notified = cv.wait_for(hold, 1h) == std::cv_status::no_timeout;
  });
  ASSERT_TRUE(weft::test::eventually([&] { return waits.load(); }));
  {
    const std::lock_guard hold(m);  // it has let go of it, so it waits
    cv.notify_all();
  }
  weft::blocking([&] { t.join(); });
  EXPECT_TRUE(timed_out);
  EXPECT_TRUE(notified);
}

// A notify that meets the end of somebody's time goes to that one or to the next, and never nowhere.
TEST_FOR_PROCS(condition_variable_race, no_notify_is_lost_to_one_whose_time_ends) {
  weft::mutex m;
  weft::condition_variable cv;
  int ntokens = 0;
  int ntaken = 0;
  constexpr int kTokens = weft::test::scaled(600);
  weft::wait_group wg;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 3; ++i) {  // impatient: takes what it can
    wg.go([&, i] {
      std::unique_lock hold(m);
      for (int k = 0; !stop; ++k) {
        cv.wait_for(hold, std::chrono::microseconds((k * 7 + i) % 50));
        if (ntokens > 0) {
          --ntokens;
          ++ntaken;
        }
        hold.unlock();
        weft::yield();
        hold.lock();
      }
    });
  }
  wg.go([&] {  // patient: sleeps until it is notified, so a lost notify leaves a token
    std::unique_lock hold(m);
    while (ntaken < kTokens) {
      cv.wait(hold, [&] { return ntokens > 0 || ntaken == kTokens; });
      if (ntokens > 0) {
        --ntokens;
        ++ntaken;
      }
    }
  });
  for (int i = 0; i < kTokens; ++i) {
    {
      const std::lock_guard hold(m);
      ++ntokens;
    }
    cv.notify_one();
    if (i % 4 == 0) weft::yield();
  }
  ASSERT_TRUE(weft::test::eventually([&] {
    const std::lock_guard hold(m);
    return ntaken == kTokens;
  }));
  stop = true;
  cv.notify_all();
  wg.wait();
}

// HAZARD 51: it may go when all have been notified, before they are back.
TEST_FOR_PROCS(condition_variable_race, may_be_destroyed_when_all_were_notified) {
  for (int i = 0; i < weft::test::scaled(2000); ++i) {
    weft::mutex m;
    auto cv = std::make_unique<weft::condition_variable>();
    bool waits = false;
    bool is_ready = false;
    auto h = weft::spawn([&, c = cv.get()] {
      std::unique_lock hold(m);
      waits = true;
      while (!is_ready) c->wait(hold);
    });
    for (bool done = false; !done;) {
      {
        const std::lock_guard hold(m);
        if (waits) {
          is_ready = true;
          cv->notify_all();
          cv.reset();
          done = true;
        }
      }
      weft::yield();
    }
    h.join();
  }
}

}  // namespace
