// select.cpp: what select promises (B170-B188); of cases made at run time: select_list.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

#include "support/for_procs.hpp"
#include "support/parked.hpp"

using namespace std::chrono_literals;
using weft::on_recv;
using weft::on_send;
using weft::on_timeout;
using weft::otherwise;

namespace {

TEST_FOR_PROCS(select, proceeds_with_what_is_ready) {
  const auto a = weft::make_chan<int>(1);
  const auto b = weft::make_chan<std::string>(1);
  b.send("text");
  std::string got;
  EXPECT_EQ(weft::select(on_recv(a, [](std::optional<int>) { FAIL(); }),
                         on_recv(b, [&](std::optional<std::string> s) { got = *s; })),
            1u);
  EXPECT_EQ(got, "text");
  EXPECT_EQ(weft::select(on_send(a, 3), on_recv(b)), 0u);
  EXPECT_EQ(a.recv(), 3);
}

TEST_FOR_PROCS(select, otherwise_runs_when_nothing_is_ready) {
  const auto empty = weft::make_chan<int>();
  const auto full = weft::make_chan<int>();
  bool ran = false;
  EXPECT_EQ(weft::select(on_recv(empty), on_send(full, 1), otherwise([&] { ran = true; })), 2u);
  EXPECT_TRUE(ran);
  EXPECT_EQ(weft::select(otherwise()), 0u);
  const auto ready = weft::make_chan<int>(1);
  EXPECT_EQ(weft::select(otherwise(), on_send(ready, 1)), 1u);
}

TEST_FOR_PROCS(select, waits_for_the_first_that_comes) {
  const auto a = weft::make_chan<int>();
  const auto b = weft::make_chan<int>();
  weft::go([b] { b.send(5); });
  int got = 0;
  EXPECT_EQ(weft::select(on_recv(a), on_recv(b, [&](std::optional<int> v) { got = *v; })), 1u);
  EXPECT_EQ(got, 5);
  auto receiver = weft::spawn([a] { return a.recv(); });
  EXPECT_EQ(weft::select(on_send(a, 6), on_recv(b)), 0u);
  EXPECT_EQ(receiver.join(), 6);
}

TEST_FOR_PROCS(select, chooses_evenly_among_those_that_are_ready) {
  std::array<weft::chan<int>, 4> c;
  for (auto& each : c) each = weft::make_chan<int>(1);
  std::array<int, 4> n{};
  constexpr int kRounds = 8000;
  for (int i = 0; i < kRounds; ++i) {
    for (auto& each : c) each.try_send(0);
    ++n[weft::select(on_recv(c[0]), on_recv(c[1]), on_recv(c[2]), on_recv(c[3]))];
  }
  for (const int each : n) {
    EXPECT_GT(each, kRounds / 4 * 8 / 10);
    EXPECT_LT(each, kRounds / 4 * 12 / 10);
  }
}

// B175
TEST_FOR_PROCS(select, chooses_evenly_among_sends_on_one_channel) {
  const auto c = weft::make_chan<int>(1);
  int nones = 0;
  for (int i = 0; i < 2000; ++i) {
    weft::select(on_send(c, 0), on_send(c, 1));
    nones += *c.recv();
  }
  EXPECT_GT(nones, 800);
  EXPECT_LT(nones, 1200);
}

TEST_FOR_PROCS(select, nil_channels_are_never_ready) {
  const weft::chan<int> nil;
  const auto c = weft::make_chan<int>(1);
  EXPECT_EQ(weft::select(on_recv(nil), on_send(nil, 1), otherwise()), 2u);
  EXPECT_EQ(weft::select(on_recv(nil), on_timeout(1ms)), 1u);
  EXPECT_EQ(weft::select(on_recv(nil), on_send(c, 1)), 1u);
}

TEST_FOR_PROCS(select, on_closed_channels_is_as_the_plain_operations) {
  const auto c = weft::make_chan<int>(1);
  c.send(1);
  c.close();
  std::optional<int> got;
  const auto keep = [&](std::optional<int> v) { got = v; };
  EXPECT_EQ(weft::select(on_recv(c, keep)), 0u);
  EXPECT_EQ(got, 1);
  EXPECT_EQ(weft::select(on_recv(c, keep), otherwise()), 0u) << "closed is ready";
  EXPECT_EQ(got, std::nullopt);
  EXPECT_THROW(weft::select(on_send(c, 1)), weft::closed_channel);
  EXPECT_THROW(weft::select(on_send(c, 1), otherwise()), weft::closed_channel);
  EXPECT_THROW(weft::select(on_send(c, 1), on_timeout(1h)), weft::closed_channel);
}

TEST_FOR_PROCS(select, is_woken_by_a_close) {
  const auto a = weft::make_chan<int>();
  const auto b = weft::make_chan<int>();
  bool was_closed = false;
  auto receiver = weft::spawn([&] {
    return weft::select(on_recv(a),
                        on_recv(b, [&](std::optional<int> v) { was_closed = !v.has_value(); }));
  });
  const auto to = weft::make_chan<int>();
  auto sender = weft::spawn(
      [&] { EXPECT_THROW(weft::select(on_send(to, 1), on_timeout(1h)), weft::closed_channel); });
  weft::sleep_for(2ms);
  b.close();
  EXPECT_EQ(receiver.join(), 1u);
  EXPECT_TRUE(was_closed);
  to.close();
  sender.join();
}

// B172, B182
TEST_FOR_PROCS(select, send_and_receive_on_one_channel_never_meet_themselves) {
  for (const std::size_t capacity : {0u, 1u, 10u}) {
    const auto c = weft::make_chan<int>(capacity);
    weft::wait_group wg;
    for (int p = 0; p < 2; ++p) {
      wg.go([&, p] {
        for (int i = 0; i < 500; ++i) {
          if (p == 0 || i % 2 == 0) {
            weft::select(on_send(c, p), on_recv(c, [&](std::optional<int> v) {
                           ASSERT_TRUE(capacity != 0 || *v != p) << "received its own";
                         }));
          } else {
            weft::select(on_recv(c,
                                 [&](std::optional<int> v) {
                                   ASSERT_TRUE(capacity != 0 || *v != p) << "received its own";
                                 }),
                         on_send(c, p));
          }
        }
      });
    }
    wg.wait();
  }
  const auto alone = weft::make_chan<int>();
  EXPECT_EQ(weft::select(on_send(alone, 1), on_recv(alone), on_timeout(2ms)), 2u);
}

// B170, B171: c1 is ready, then c2 is, then c1 is drained: at every moment one of them was. (src/chan/chan_timing_test.cpp goes through
// the moments one by one.)
TEST_FOR_PROCS(select_race, acts_on_one_instant) {
  for (const bool by_close : {false, true}) {
    for (int i = 0; i < 500; ++i) {
      const auto c1 = weft::make_chan<int>(1);
      const auto c2 = weft::make_chan<int>(1);
      c1.send(1);
      auto other =
          weft::spawn([=] { return weft::select(on_recv(c1), on_recv(c2), otherwise()) != 2; });
      if (by_close) {
        c2.close();
      } else {
        c2.send(1);
      }
      weft::select(on_recv(c1), otherwise());
      ASSERT_TRUE(other.join()) << "took `otherwise` in round " << i;
    }
  }
}

// B173, B188
TEST_FOR_PROCS(select_race, over_permuted_channels_nothing_is_lost_and_nobody_hangs) {
  const int neach = weft::test::as_often_as_go(100'000, 3000);
  std::array<weft::chan<int>, 4> c = {weft::make_chan<int>(), weft::make_chan<int>(),
                                      weft::make_chan<int>(2), weft::make_chan<int>(3)};
  weft::wait_group wg;
  std::array<std::atomic<int>, 4> nreceived{};
  for (std::size_t k = 0; k < 4; ++k) {
    wg.go([&, k] {
      for (int i = 0; i < neach; ++i) c[k].send(0);
    });
    wg.go([&, k] {
      for (int i = 0; i < neach; ++i) {
        c[k].recv();
        ++nreceived[k];
      }
    });
  }
  wg.go([&] {
    std::array<weft::chan<int>, 4> mine = c;
    std::array<int, 4> n{};
    for (int i = 0; i < 4 * neach; ++i) {
      const std::size_t k = weft::select(on_send(mine[3], 0), on_send(mine[2], 0),
                                         on_send(mine[0], 0), on_send(mine[1], 0));
      constexpr std::array<std::size_t, 4> kOrder = {3, 2, 0, 1};
      if (++n[kOrder[k]] == neach) mine[kOrder[k]] = {};
    }
  });
  wg.go([&] {
    std::array<weft::chan<int>, 4> mine = c;
    std::array<int, 4> n{};
    for (int i = 0; i < 4 * neach; ++i) {
      const std::size_t k =
          weft::select(on_recv(mine[0]), on_recv(mine[1]), on_recv(mine[2]), on_recv(mine[3]));
      ++nreceived[k];
      if (++n[k] == neach) mine[k] = {};
    }
  });
  wg.wait();
  for (const auto& n : nreceived) EXPECT_EQ(n, 2 * neach);
}

// B176
TEST_FOR_PROCS(select_race, exactly_one_case_runs) {
  constexpr int kRounds = 3000;
  const auto a = weft::make_chan<int>();
  const auto b = weft::make_chan<int>();
  auto sender = weft::spawn([=] {
    int n = 0;
    for (int i = 0; i < kRounds; ++i)
      weft::select(on_send(a, i, [&] { ++n; }), on_send(b, i, [&] { ++n; }));
    a.close();
    b.close();
    return n;
  });
  std::atomic<int> nreceived{0};
  weft::wait_group wg;
  for (const auto& c : {a, b})
    wg.go([&nreceived, c] {
      for ([[maybe_unused]] int& v : c) ++nreceived;
    });
  EXPECT_EQ(sender.join(), kRounds);
  wg.wait();
  EXPECT_EQ(nreceived, kRounds);
}

// B177: the queue is intact for the others when one who stood in it twice has left.
TEST_FOR_PROCS(select, the_same_channel_twice_leaves_the_queue_in_order) {
  const auto c = weft::make_chan<int>();
  const auto d = weft::make_chan<int>();
  const auto e = weft::make_chan<int>();
  std::array<weft::test::comer, 3> comers;
  auto first = weft::spawn([&] {
    comers[0].comes();
    return weft::select(on_recv(c), on_recv(d), on_recv(e));
  });
  ASSERT_TRUE(comers[0].waits());
  auto second = weft::spawn([&] {
    comers[1].comes();
    return weft::select(on_recv(c), on_recv(c), on_recv(d), on_recv(e));
  });
  ASSERT_TRUE(comers[1].waits());
  auto third = weft::spawn([&] {
    comers[2].comes();
    return c.recv();
  });
  ASSERT_TRUE(comers[2].waits());
  e.send(1);
  EXPECT_EQ(first.join(), 2u);
  d.send(2);
  EXPECT_EQ(second.join(), 2u);
  c.send(3);
  EXPECT_EQ(third.join(), 3);
}

TEST_FOR_PROCS(select, on_timeout_ends_the_wait) {
  const auto c = weft::make_chan<int>();
  const auto began = weft::clock::now();
  bool ran = false;
  EXPECT_EQ(weft::select(on_recv(c), on_timeout(2ms, [&] { ran = true; })), 1u);
  EXPECT_GE(weft::clock::now() - began, 2ms);
  EXPECT_TRUE(ran);
  EXPECT_EQ(weft::select(on_timeout(1ms)), 0u) << "a sleep";
  EXPECT_EQ(weft::select(on_timeout(-1h), on_recv(c)), 0u);
  EXPECT_FALSE(c.try_send(1)) << "nobody is left in its queue";
}

TEST_FOR_PROCS(select, a_value_is_moved_or_copied_only_if_its_case_is_chosen) {
  const auto full = weft::make_chan<std::string>();
  const auto open = weft::make_chan<std::string>(2);
  std::string a = "a text that is too long to be kept inside a string object";
  std::string b = a + "!";
  EXPECT_EQ(weft::select(on_send(full, std::move(a)), on_send(open, std::move(b))), 1u);
  EXPECT_EQ(a.size(), 57u) << "not chosen";
  EXPECT_TRUE(b.empty()) << "moved from";
  EXPECT_EQ(weft::select(on_send(open, a)), 0u);
  EXPECT_EQ(a.size(), 57u) << "an lvalue is copied";
  EXPECT_EQ(open.recv()->size(), 58u);
  EXPECT_EQ(open.recv()->size(), 57u);
  EXPECT_EQ(weft::select(on_send(open, "a literal")), 0u);
  EXPECT_EQ(open.recv(), "a literal");
  const std::shared_ptr<int> shared = std::make_shared<int>(1);
  const auto pointers = weft::make_chan<std::shared_ptr<int>>();
  EXPECT_EQ(weft::select(on_send(pointers, shared), otherwise()), 1u);
  EXPECT_EQ(shared.use_count(), 1);
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied&) { throw std::runtime_error("copy"); }
  throws_when_copied(throws_when_copied&&) noexcept {}
};

TEST_FOR_PROCS(select, a_copy_that_throws_sends_nothing) {
  const auto c = weft::make_chan<throws_when_copied>(1);
  const throws_when_copied value;
  EXPECT_THROW(weft::select(on_send(c, value)), std::runtime_error);
  EXPECT_FALSE(c.try_recv().has_value());
  auto receiver = weft::spawn([&] { return weft::select(on_recv(c), on_timeout(1h)); });
  weft::sleep_for(1ms);
  EXPECT_THROW(weft::select(on_send(c, value)), std::runtime_error);
  c.send(throws_when_copied());
  EXPECT_EQ(receiver.join(), 0u) << "it has waited for the next";
}

TEST_FOR_PROCS(select, a_handler_may_throw_park_select_and_spawn) {
  const auto c = weft::make_chan<int>(1);
  c.send(1);
  EXPECT_THROW(weft::select(on_recv(c, [](std::optional<int>) { throw std::logic_error("x"); })),
               std::logic_error);
  int got = 0;
  weft::select(on_send(c, 2, [&] {
    weft::spawn([&] { weft::select(on_recv(c, [&](std::optional<int> v) { got = *v; })); }).join();
  }));
  EXPECT_EQ(got, 2);
}

TEST_FOR_PROCS(select, signals) {
  const auto done = weft::make_chan<void>();
  const auto c = weft::make_chan<int>();
  weft::go([done] { done.close(); });
  bool was_sent = true;
  EXPECT_EQ(weft::select(on_recv(c), on_recv(done, [&](bool sent) { was_sent = sent; })), 1u);
  EXPECT_FALSE(was_sent) << "closed";
  const auto ready = weft::make_chan<void>(1);
  EXPECT_EQ(weft::select(on_send(ready), on_recv(c)), 0u);
  EXPECT_TRUE(ready.recv());
}

TEST_FOR_PROCS(select, directional_ends) {
  const auto c = weft::make_chan<int>(1);
  const weft::send_chan<int> in = c;
  const weft::recv_chan<int> out = c;
  EXPECT_EQ(weft::select(on_send(in, 4)), 0u);
  int got = 0;
  EXPECT_EQ(weft::select(on_recv(out, [&](std::optional<int> v) { got = *v; })), 0u);
  EXPECT_EQ(got, 4);
}

TEST_FOR_PROCS(select, from_plain_threads) {
  const auto a = weft::make_chan<int>();
  const auto b = weft::make_chan<int>();
  constexpr int kRounds = 300;
  std::atomic<long> sum{0};
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i)
      weft::select(on_recv(a, [&](std::optional<int> v) { sum += *v; }),
                   on_recv(b, [&](std::optional<int> v) { sum += *v; }), on_timeout(1h));
  });
  for (int i = 0; i < kRounds; ++i) (i % 2 != 0 ? a : b).send(i);
  weft::blocking([&] { other.join(); });
  EXPECT_EQ(sum, static_cast<long>(kRounds) * (kRounds - 1) / 2);
}

}  // namespace
