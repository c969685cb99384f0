// chan.cpp: what a channel promises (B145-B149, B151-B155, B160, B161, B167, B169).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

using namespace std::chrono_literals;
using weft::test::eventually;

namespace {

// --- without anybody waiting ---

TEST_FOR_PROCS(chan, try_recv_of_an_empty_one_gives_nothing) {
  const auto meeting = weft::make_chan<int>();
  const auto buffered = weft::make_chan<int>(3);
  EXPECT_EQ(meeting.try_recv(), std::nullopt);
  EXPECT_EQ(buffered.try_recv(), std::nullopt);
}

TEST_FOR_PROCS(chan, try_send_to_a_full_one_does_nothing) {
  const auto meeting = weft::make_chan<int>();
  EXPECT_FALSE(meeting.try_send(1)) << "nobody receives";
  const auto buffered = weft::make_chan<int>(2);
  EXPECT_TRUE(buffered.try_send(1));
  EXPECT_TRUE(buffered.try_send(2));
  EXPECT_FALSE(buffered.try_send(3));
  EXPECT_EQ(buffered.recv(), 1);
  EXPECT_TRUE(buffered.try_send(4));
  EXPECT_EQ(buffered.recv(), 2);
  EXPECT_EQ(buffered.recv(), 4);
}

TEST_FOR_PROCS(chan, len_and_cap_tell_what_is_in_and_what_fits_in) {
  const auto c = weft::make_chan<int>(3);
  EXPECT_EQ(c.cap(), 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    EXPECT_EQ(c.len(), n);
    c.send(0);
  }
  EXPECT_EQ(c.len(), 3u);
  c.recv();
  EXPECT_EQ(c.len(), 2u);
  const auto meeting = weft::make_chan<int>();
  EXPECT_EQ(meeting.cap(), 0u);
  EXPECT_EQ(meeting.len(), 0u);
  const weft::chan<int> nil;
  EXPECT_EQ(nil.cap(), 0u);
  EXPECT_EQ(nil.len(), 0u);
  EXPECT_FALSE(nil.closed());
}

TEST_FOR_PROCS(chan, the_ring_goes_round) {
  const auto c = weft::make_chan<int>(3);
  int sent = 0;
  int received = 0;
  for (int round = 0; round < 20; ++round) {
    const int n = round % 3 + 1;
    for (int i = 0; i < n; ++i) c.send(sent++);
    for (int i = 0; i < n; ++i) ASSERT_EQ(c.recv(), received++);
  }
}

// --- closed ---

TEST_FOR_PROCS(chan, receive_from_closed_yields_buffered_values_first) {
  const auto c = weft::make_chan<int>(2);
  c.send(1);
  c.send(2);
  c.close();
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(c.recv(), 1);
  EXPECT_EQ(c.try_recv(), 2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(c.recv(), std::nullopt);
    EXPECT_EQ(c.try_recv(), std::nullopt);
    EXPECT_EQ(c.recv_for(1h), std::nullopt);
  }
}

TEST_FOR_PROCS(chan, a_loop_over_a_closed_one_takes_what_is_left_and_ends) {
  const auto c = weft::make_chan<int>(3);
  c.send(1);
  c.send(2);
  c.close();
  std::vector<int> got;
  for (const int& v : c) got.push_back(v);
  EXPECT_EQ(got, (std::vector<int>{1, 2}));
  for ([[maybe_unused]] const int& v : c) FAIL() << "there is nothing left";
  const weft::recv_chan<int> end = c;
  for ([[maybe_unused]] const int& v : end) FAIL() << "there is nothing left";
}

TEST_FOR_PROCS(chan, send_on_closed_throws_and_so_does_a_second_close) {
  const auto c = weft::make_chan<int>(2);
  c.close();
  EXPECT_THROW(c.send(1), weft::closed_channel);
  EXPECT_THROW(c.try_send(1), weft::closed_channel);
  EXPECT_THROW((void)c.send_for(1, 1h), weft::closed_channel);
  EXPECT_THROW(c.close(), weft::closed_channel);
  try {
    c.send(1);
  } catch (const weft::closed_channel& e) {
    EXPECT_STREQ(e.what(), "weft: send on closed channel");
  }
}

TEST_FOR_PROCS(chan, close_of_nil_throws) {
  const weft::chan<int> nil;
  EXPECT_THROW(nil.close(), weft::nil_channel);
}

TEST_FOR_PROCS(chan, close_wakes_every_receiver_that_waits) {
  const auto c = weft::make_chan<int>();
  std::atomic<int> nended{0};
  std::atomic<int> nwaiting{0};
  weft::wait_group wg;
  for (int i = 0; i < 20; ++i) {
    wg.go([&] {
      ++nwaiting;
      if (!c.recv()) ++nended;
    });
  }
  EXPECT_TRUE(eventually([&] { return nwaiting == 20; }));
  c.close();
  wg.wait();
  EXPECT_EQ(nended, 20);
}

TEST_FOR_PROCS(chan, close_wakes_every_sender_that_waits_and_they_throw) {
  const auto c = weft::make_chan<int>(1);
  c.send(-1);
  std::atomic<int> nthrown{0};
  std::atomic<int> nwaiting{0};
  weft::wait_group wg;
  for (int i = 0; i < 20; ++i) {
    wg.go([&, i] {
      ++nwaiting;
      try {
        c.send(i);
      } catch (const weft::closed_channel&) {
        ++nthrown;
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return nwaiting == 20; }));
  weft::sleep_for(1ms);
  c.close();
  wg.wait();
  EXPECT_EQ(nthrown, 20);
  EXPECT_EQ(c.recv(), -1) << "what was in it stays";
  EXPECT_EQ(c.recv(), std::nullopt);
}

// --- meeting ---

TEST_FOR_PROCS(chan, an_unbuffered_send_waits_for_its_receiver) {
  const auto c = weft::make_chan<int>();
  std::atomic<bool> has_sent{false};
  auto sender = weft::spawn([&] {
    c.send(1);
    has_sent = true;
  });
  for (int i = 0; i < 10; ++i) weft::yield();
  EXPECT_FALSE(has_sent);
  EXPECT_EQ(c.recv(), 1);
  sender.join();
  EXPECT_TRUE(has_sent);
}

TEST_FOR_PROCS(chan, a_full_buffer_makes_senders_wait_in_order) {
  const auto c = weft::make_chan<int>(1);
  c.send(0);
  weft::wait_group wg;
  std::array<weft::test::comer, 6> sender;
  for (int i = 1; i <= 5; ++i) {
    auto& mine = sender[static_cast<std::size_t>(i)];
    wg.go([&, i] {
      mine.comes();
      c.send(i);
    });
    ASSERT_TRUE(mine.waits());
  }
  for (int i = 0; i <= 5; ++i) EXPECT_EQ(c.recv(), i) << "first come, first served";
  wg.wait();
}

TEST_FOR_PROCS(chan, a_value_handed_to_a_waiting_receiver_is_the_right_one) {
  const auto c = weft::make_chan<long>();
  weft::wait_group wg;
  std::atomic<long> sum{0};
  for (int i = 0; i < 8; ++i) wg.go([&] { sum += *c.recv(); });
  for (long i = 1; i <= 8; ++i) c.send(i * i);
  wg.wait();
  EXPECT_EQ(sum, 204);
}

TEST_FOR_PROCS(chan, four_senders_and_four_receivers_lose_and_double_nothing) {
  constexpr int kEach = 1000;
  for (const std::size_t capacity : {0u, 1u, 10u, 100u}) {
    const auto c = weft::make_chan<int>(capacity);
    std::vector<std::atomic<int>> seen(kEach);
    weft::wait_group senders;
    weft::wait_group receivers;
    for (int s = 0; s < 4; ++s)
      senders.go([&] {
        for (int i = 0; i < kEach; ++i) c.send(i);
      });
    for (int r = 0; r < 4; ++r)
      receivers.go([&] {
        for (const int& v : c) ++seen[static_cast<std::size_t>(v)];
      });
    senders.wait();
    c.close();
    receivers.wait();
    EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 4; }))
        << "with room for " << capacity;
  }
}

TEST_FOR_PROCS(chan, many_consumers_range_until_close) {
  constexpr int kWorkers = 23;
  const int nitems = weft::test::as_often_as_go(271'828, 50'000);
  const auto work = weft::make_chan<int>(23);
  const auto results = weft::make_chan<int>(23);
  weft::wait_group wg;
  for (int i = 0; i < kWorkers; ++i)
    wg.go([=] {
      for (const int& v : work) {
        if (v % 100 == 0) weft::yield();
        results.send(v);
      }
    });
  weft::go([=] {
    for (int i = 0; i < nitems; ++i) work.send(i);
    work.close();
  });
  weft::go([&wg, results] {
    wg.wait();
    results.close();
  });
  long long sum = 0;
  int n = 0;
  for (const int& v : results) {
    sum += v;
    ++n;
  }
  EXPECT_EQ(n, nitems);
  EXPECT_EQ(sum, static_cast<long long>(nitems) * (nitems - 1) / 2);
}

// B153: at every moment there is a value, or it is closed. (src/chan/chan_timing_test.cpp goes through the moments one by one.)
TEST_FOR_PROCS(chan_race, a_value_that_is_there_is_not_missed_when_it_is_closed) {
  for (int i = 0; i < 2000; ++i) {
    const auto c = weft::make_chan<int>(1);
    c.send(1);
    auto looks =
        weft::spawn([c] { return weft::select(weft::on_recv(c), weft::otherwise()) == 0; });
    c.close();
    c.recv();
    ASSERT_TRUE(looks.join()) << "took `otherwise` in round " << i;
  }
}

// B161: were one of a long queue looked for from its beginning, this would take minutes.
TEST_FOR_PROCS(chan, a_long_queue_of_waiters_is_served_in_linear_time) {
  constexpr int kWaiters = 10'000;
  const auto c = weft::make_chan<int>();
  const auto other = weft::make_chan<int>();
  weft::wait_group wg;
  for (int i = 0; i < kWaiters; ++i)
    wg.go([&] { weft::select(weft::on_recv(c), weft::on_recv(other)); });
  for (int i = 0; i < kWaiters; ++i) c.send(i);
  wg.wait();
}

// B167: three ways in which what one did is seen by the other (TSan looks).
TEST_FOR_PROCS(chan, what_was_done_before_is_seen_after) {
  for (const std::size_t capacity : {0u, 1u, 3u}) {
    const auto c = weft::make_chan<int>(capacity);
    int message = 0;
    weft::go([&, c] {
      message = 1;
      c.send(0);
    });
    c.recv();
    EXPECT_EQ(message, 1) << "a send, and its receive";

    const auto limit = weft::make_chan<int>(1);  // as a lock: the send that uses the room
    int guarded = 0;
    weft::wait_group wg;
    for (int i = 0; i < 20; ++i)
      wg.go([&] {
        limit.send(0);
        ++guarded;
        limit.recv();
      });
    wg.wait();
    EXPECT_EQ(guarded, 20) << "a receive, and the send that uses the room";

    const auto end = weft::make_chan<int>(capacity);
    int last = 0;
    weft::go([&, end] {
      last = 7;
      end.close();
    });
    EXPECT_EQ(end.recv(), std::nullopt);
    EXPECT_EQ(last, 7) << "a close, and a receive that found it closed";
  }
}

// --- plain threads ---

TEST_FOR_PROCS(chan, plain_threads_send_and_receive_as_well) {
  constexpr int kEach = 500;
  for (const std::size_t capacity : {0u, 4u}) {
    const auto to_threads = weft::make_chan<int>(capacity);
    const auto to_goroutines = weft::make_chan<int>(capacity);
    std::atomic<long> at_threads{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) to_goroutines.send(i);
        for (const int& v : to_threads) at_threads += v;
      });
    long sum = 0;
    for (int i = 0; i < 3 * kEach; ++i) sum += *to_goroutines.recv();
    for (int i = 0; i < 3 * kEach; ++i) to_threads.send(1);
    to_threads.close();
    weft::blocking([&] {
      for (auto& t : threads) t.join();
    });
    EXPECT_EQ(sum, 3L * kEach * (kEach - 1) / 2);
    EXPECT_EQ(at_threads, 3 * kEach);
  }
}

TEST(chan_between_threads, works_without_a_runtime) {
  const auto c = weft::make_chan<int>();
  std::thread other([c] {
    for (int i = 0; i < 100; ++i) c.send(i);
    c.close();
  });
  int n = 0;
  for (const int& v : c) EXPECT_EQ(v, n++);
  EXPECT_EQ(n, 100);
  other.join();
}

// --- handles ---

TEST_FOR_PROCS(chan, handles_share_one_channel) {
  const auto c = weft::make_chan<int>(1);
  weft::chan<int> copy = c;
  EXPECT_TRUE(copy == c);
  EXPECT_FALSE(copy == weft::make_chan<int>(1));
  copy.send(5);
  EXPECT_EQ(c.recv(), 5);
  weft::chan<int> moved = std::move(copy);
  EXPECT_FALSE(copy) << "what was moved from is nil";  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(moved == c);
  const weft::send_chan<int> in = c;
  const weft::recv_chan<int> out = c;
  in.send(6);
  EXPECT_EQ(out.recv(), 6);
  std::unordered_set<weft::chan<int>> set{c, moved, weft::make_chan<int>()};
  EXPECT_EQ(set.size(), 2u);
  std::unordered_set<weft::send_chan<int>> ins{in, c, weft::make_chan<int>()};
  EXPECT_EQ(ins.size(), 2u);
  std::unordered_set<weft::recv_chan<int>> outs{out, c, weft::make_chan<int>()};
  EXPECT_EQ(outs.size(), 2u);
}

TEST_FOR_PROCS(chan, arrows_send_and_receive) {
  const auto c = weft::make_chan<int>(2);
  c << 1 << 2;
  int v = 0;
  EXPECT_TRUE(c >> v);
  EXPECT_EQ(v, 1);
  EXPECT_TRUE(c >> v);
  c.close();
  EXPECT_FALSE(c >> v);
  EXPECT_EQ(v, 2) << "left alone";
}

template <class C>
concept sends = requires(const C& c) { c.send(1); };
template <class C>
concept receives = requires(const C& c) { c.recv(); };
template <class C>
concept closes = requires(const C& c) { c.close(); };

// B159
static_assert(sends<weft::chan<int>> && receives<weft::chan<int>> && closes<weft::chan<int>>);
static_assert(sends<weft::send_chan<int>> && !receives<weft::send_chan<int>>);
static_assert(closes<weft::send_chan<int>>, "as in Go");
static_assert(!sends<weft::recv_chan<int>> && receives<weft::recv_chan<int>>);
static_assert(!closes<weft::recv_chan<int>>);
static_assert(std::is_convertible_v<weft::chan<int>, weft::send_chan<int>>);
static_assert(std::is_convertible_v<weft::chan<int>, weft::recv_chan<int>>);
static_assert(!std::is_convertible_v<weft::send_chan<int>, weft::chan<int>>);
static_assert(!std::is_convertible_v<weft::recv_chan<int>, weft::chan<int>>);
static_assert(!std::is_convertible_v<weft::chan<int>, weft::chan<long>>);

// --- signals ---

TEST_FOR_PROCS(chan_of_void, is_a_signal) {
  const auto c = weft::make_chan<void>(2);
  c.send();
  EXPECT_TRUE(c.try_send());
  EXPECT_FALSE(c.try_send());
  EXPECT_EQ(c.len(), 2u);
  EXPECT_TRUE(c.recv());
  c.close();
  EXPECT_TRUE(c.recv());
  EXPECT_FALSE(c.recv());
  EXPECT_FALSE(c.try_recv());
  EXPECT_THROW(c.send(), weft::closed_channel);
}

TEST_FOR_PROCS(chan_of_void, can_be_ranged_over) {
  const auto c = weft::make_chan<void>();
  weft::go([c] {
    for (int i = 0; i < 5; ++i) c.send();
    c.close();
  });
  int n = 0;
  for ([[maybe_unused]] auto tick : c) ++n;
  EXPECT_EQ(n, 5);
  const auto left = weft::make_chan<void>(2);
  left.send();
  left.close();
  for ([[maybe_unused]] auto tick : left) ++n;
  EXPECT_EQ(n, 6) << "what is left in a closed one, and then the end";
}

// --- not for ever ---

TEST_FOR_PROCS(timed_chan, gives_up_when_the_time_is_over) {
  const auto c = weft::make_chan<int>();
  const auto began = weft::clock::now();
  EXPECT_EQ(c.recv_for(2ms), std::nullopt);
  EXPECT_FALSE(c.send_for(1, 2ms));
  EXPECT_GE(weft::clock::now() - began, 4ms) << "never early";
  EXPECT_EQ(c.recv_until(weft::clock::now() + 1ms), std::nullopt);
  EXPECT_EQ(c.recv_until(std::chrono::system_clock::now() + 1ms), std::nullopt);
  EXPECT_FALSE(c.send_until(1, std::chrono::steady_clock::now() + 1ms));
  EXPECT_EQ(c.recv_for(-1h), std::nullopt);
  EXPECT_FALSE(c.send_for(1, 0ms));
  EXPECT_FALSE(c.try_send(1)) << "nobody was left in a queue";
  EXPECT_EQ(c.try_recv(), std::nullopt);
}

TEST_FOR_PROCS(timed_chan, takes_what_comes_in_time) {
  const auto c = weft::make_chan<int>();
  weft::go([c] { c.send(1); });
  EXPECT_EQ(c.recv_for(1h), 1);
  weft::go([c] { c.recv(); });
  EXPECT_TRUE(c.send_for(2, 1h));
  weft::go([c] { EXPECT_TRUE(c.send_until(3, weft::clock::now() + 1h)); });
  EXPECT_EQ(c.recv_until(std::chrono::system_clock::now() + 1h), 3);
  auto waits = weft::spawn([c] { return c.recv_for(1h); });
  weft::sleep_for(1ms);
  c.close();
  EXPECT_EQ(waits.join(), std::nullopt);
}

TEST_FOR_PROCS(timed_chan, of_nil_is_a_sleep) {
  const weft::chan<int> nil;
  EXPECT_EQ(nil.recv_for(1ms), std::nullopt);
  EXPECT_FALSE(nil.send_for(1, 1ms));
  EXPECT_FALSE(nil.try_send(1));
  EXPECT_EQ(nil.try_recv(), std::nullopt);
}

// The value and the end of the time come together, again and again; nothing is lost and nothing doubled.
TEST_FOR_PROCS(timed_chan_race, the_value_and_the_time_at_once) {
  const auto c = weft::make_chan<int>();
  constexpr int kRounds = 300;
  std::atomic<long> sent{0};
  std::atomic<bool> is_over{false};
  auto sender = weft::spawn([&] {
    for (int i = 1; i <= kRounds; ++i)
      if (c.send_for(i, std::chrono::microseconds(40 + i % 11))) sent += i;
    is_over = true;
  });
  long received = 0;
  while (!is_over)
    if (const auto v = c.recv_for(std::chrono::microseconds(45))) received += *v;
  sender.join();
  while (const auto v = c.try_recv()) received += *v;
  EXPECT_EQ(received, sent);
}

TEST_FOR_PROCS(timed_chan_race, from_plain_threads) {
  const auto c = weft::make_chan<int>();
  std::atomic<long> sent{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (int i = 1; i <= 60; ++i)
        if (c.send_for(i, std::chrono::microseconds(30 * t + i))) sent += i;
    });
  std::atomic<bool> is_over{false};
  long received = 0;
  auto receiver = weft::spawn([&] {
    while (!is_over)
      if (const auto v = c.recv_for(50us)) received += *v;
  });
  weft::blocking([&] {
    for (auto& t : threads) t.join();
  });
  is_over = true;
  receiver.join();
  EXPECT_EQ(received, sent);
}

}  // namespace
