// select_list.cpp: what a select promises whose cases are made at run time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <weft/testing/bubble.hpp>
#include <weft/weft.hpp>

#include "support/for_procs.hpp"

using namespace std::chrono_literals;
using weft::on_recv;
using weft::on_send;
using weft::on_timeout;
using weft::otherwise;

namespace {

// --- cases ---

TEST_FOR_PROCS(select_list, of_ten_thousand_cases) {
  constexpr std::size_t kCases = 10'000;
  std::vector<weft::chan<int>> c(kCases);
  weft::select_list l;
  int got = 0;
  for (auto& each : c) {
    each = weft::make_chan<int>();
    l.add(on_recv(each, [&](std::optional<int> v) { got = *v; }));
  }
  EXPECT_EQ(l.size(), kCases);
  EXPECT_EQ(l.try_now(), weft::select_list::npos);
  EXPECT_EQ(l.wait_for(1ms), weft::select_list::npos);
  for (const std::size_t k : {std::size_t{7}, kCases - 1, std::size_t{5000}}) {
    weft::go([&c, k] { c[k].send(static_cast<int>(k)); });
    EXPECT_EQ(l.wait(), k);
    EXPECT_EQ(got, static_cast<int>(k));
  }
}

// None of many is left out, and none is taken for another: looked at, and waited for.
TEST_FOR_PROCS(select_list, each_of_many_cases_comes_up_under_its_own_index) {
  constexpr std::size_t kCases = 300;
  std::vector<weft::chan<std::size_t>> c(kCases);
  weft::select_list l;
  std::size_t got = 0;
  for (auto& each : c) {
    each = weft::make_chan<std::size_t>(1);
    l.add(on_recv(each, [&](std::optional<std::size_t> v) { got = *v; }));
  }
  std::vector<int> nchosen(kCases);
  const auto count = [&](std::size_t k) {
    ASSERT_LT(k, kCases);
    ASSERT_EQ(got, k);
    ++nchosen[k];
  };
  for (std::size_t k = 0; k < kCases; ++k) c[k].send(k);
  for (std::size_t i = 0; i < kCases; ++i) count(l.try_now());
  EXPECT_EQ(l.try_now(), weft::select_list::npos);
  for (std::size_t k = 0; k < kCases; ++k) {
    weft::go([&c, k] { c[k].send(k); });
    count(l.wait());  // on one P it waits before that one runs
  }
  EXPECT_TRUE(std::all_of(nchosen.begin(), nchosen.end(), [](int n) { return n == 2; }));
}

// --- what is sent ---

TEST_FOR_PROCS(select_list, keeps_what_was_not_sent) {
  const auto full = weft::make_chan<std::unique_ptr<int>>();
  const auto open = weft::make_chan<std::unique_ptr<int>>(2);
  weft::select_list l;
  l.add(on_send(full, std::make_unique<int>(1)));
  l.add(on_send(open, std::make_unique<int>(2)));
  EXPECT_EQ(l.wait(), 1u);
  EXPECT_EQ(l.unsent<std::unique_ptr<int>>(1), nullptr) << "sent";
  ASSERT_NE(l.unsent<std::unique_ptr<int>>(0), nullptr);
  EXPECT_EQ(**l.unsent<std::unique_ptr<int>>(0), 1);
  EXPECT_EQ(l.unsent<int>(0), nullptr) << "of another type";
  EXPECT_EQ(l.try_now(), weft::select_list::npos) << "a send is spent once it was chosen";
  EXPECT_EQ(**open.recv(), 2);
}

// Counts how it is copied and moved, and throws instead when told to.
struct parcel {
  static inline int ncopies = 0;
  static inline int nmoves = 0;
  static inline bool is_refused = false;
  int v;

  explicit parcel(int i) : v(i) {}
  parcel(const parcel& other) : v(other.v) {
    if (is_refused) throw std::runtime_error("copy");
    ++ncopies;
  }
  parcel(parcel&& other)
      : v(other.v) {  // NOLINT(performance-noexcept-move-constructor): as some do
    if (is_refused) throw std::runtime_error("move");
    ++nmoves;
    other.v = -1;
  }
};

// Before each test that counts.
void forget_parcels() {
  parcel::ncopies = 0;
  parcel::nmoves = 0;
  parcel::is_refused = false;
}

TEST_FOR_PROCS(select_list, a_move_that_throws_sends_nothing_and_the_value_is_still_there) {
  forget_parcels();
  const auto c = weft::make_chan<parcel>(1);
  weft::select_list l;
  l.add(on_send(c, parcel(7)));
  parcel::is_refused = true;
  EXPECT_THROW(l.wait(), std::runtime_error);
  EXPECT_FALSE(c.try_recv().has_value());
  ASSERT_NE(l.unsent<parcel>(0), nullptr);
  EXPECT_EQ(l.unsent<parcel>(0)->v, 7);
  parcel::is_refused = false;
  EXPECT_EQ(l.wait_for(1h), 0u) << "it can still be sent";
  EXPECT_EQ(c.recv()->v, 7);
  EXPECT_EQ(l.unsent<parcel>(0), nullptr);
  EXPECT_EQ(l.try_now(), weft::select_list::npos);
}

TEST_FOR_PROCS(select_list, what_was_sent_is_gone_though_the_handler_throws) {
  forget_parcels();
  const auto c = weft::make_chan<parcel>(2);
  weft::select_list l;
  l.add(on_send(c, parcel(7), [] { throw std::logic_error("handler"); }));
  EXPECT_THROW(l.wait(), std::logic_error);
  EXPECT_EQ(l.unsent<parcel>(0), nullptr);
  EXPECT_EQ(l.try_now(), weft::select_list::npos);
  EXPECT_EQ(c.recv()->v, 7);
  EXPECT_FALSE(c.try_recv().has_value());
}

TEST_FOR_PROCS(select_list, a_closed_channel_takes_nothing_and_the_value_is_still_there) {
  forget_parcels();
  const auto c = weft::make_chan<parcel>(1);
  weft::select_list l;
  l.add(on_send(c, parcel(7)));
  c.close();
  EXPECT_THROW(l.wait(), weft::closed_channel);
  ASSERT_NE(l.unsent<parcel>(0), nullptr);
  EXPECT_EQ(l.unsent<parcel>(0)->v, 7);
}

TEST_FOR_PROCS(select_list, an_lvalue_is_copied_each_time_its_case_is_chosen_and_not_before) {
  forget_parcels();
  const auto c = weft::make_chan<parcel>(1);
  const auto never = weft::make_chan<parcel>();
  const auto numbers = weft::make_chan<int>(1);  // goes as bytes
  parcel value(1);
  int number = 1;
  weft::select_list l;
  l.add(on_send(never, value));
  l.add(on_send(c, value));
  weft::select_list n;
  n.add(on_send(numbers, number));
  EXPECT_EQ(parcel::ncopies, 0);
  for (int i = 1; i <= 3; ++i) {
    value.v = i;
    number = i * 10;
    EXPECT_EQ(l.wait_for(1h), 1u) << "it is never spent";
    EXPECT_EQ(parcel::ncopies, i);
    EXPECT_EQ(l.try_now(), weft::select_list::npos) << "there is no room";
    EXPECT_EQ(c.recv()->v, i) << "as it is when it is sent";
    EXPECT_EQ(n.wait_for(1h), 0u);
    EXPECT_EQ(numbers.recv(), i * 10);
  }
  EXPECT_EQ(parcel::ncopies, 3);
  EXPECT_EQ(value.v, 3);
  EXPECT_EQ(l.unsent<parcel>(1), nullptr) << "the list does not own it";
}

TEST_FOR_PROCS(select_list, owns_its_rvalues_const_ones_too) {
  forget_parcels();
  const auto c = weft::make_chan<parcel>(2);
  weft::select_list l;
  {
    parcel moved(1);
    const parcel copied(2);
    l.add(on_send(c, std::move(moved)));
    EXPECT_EQ(moved.v, -1);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(parcel::ncopies, 0);
    l.add(on_send(
        c,
        std::move(copied)));  // NOLINT(performance-move-const-arg): as a function's result can be
    EXPECT_EQ(parcel::ncopies, 1);
  }
  ASSERT_NE(l.unsent<parcel>(1), nullptr);
  EXPECT_EQ(l.unsent<parcel>(0)->v + l.unsent<parcel>(1)->v, 3);
  EXPECT_NE(l.wait(), l.wait());
  EXPECT_EQ(c.recv()->v + c.recv()->v, 3);
  EXPECT_EQ(parcel::ncopies, 1) << "then they are moved";
}

// --- limits ---

TEST_FOR_PROCS(select_list, with_otherwise_and_timeout) {
  const auto c = weft::make_chan<int>();
  weft::select_list l;
  l.add(on_recv(c));
  l.add(on_timeout(1ms));
  EXPECT_EQ(l.wait(), 1u);
  EXPECT_THROW(l.add(on_timeout(1ms)), std::logic_error);
  l.add(otherwise());
  EXPECT_EQ(l.wait(), 2u);
  EXPECT_EQ(l.try_now(), 2u);
  EXPECT_THROW(l.add(otherwise()), std::logic_error);
  weft::select_list keeps;
  {
    const auto dies = weft::make_chan<int>(1);
    dies.send(3);
    keeps.add(on_recv(dies));
  }
  EXPECT_EQ(keeps.wait(), 0u) << "the list has a handle of its own";
}

TEST_FOR_PROCS(select_list, a_timeout_counts_from_each_wait) {
  weft::testing::bubble([] {
    auto began = weft::clock::now();
    const auto took = [&] {
      const auto now = weft::clock::now();
      return now - std::exchange(began, now);
    };
    const auto c = weft::make_chan<int>();
    weft::select_list l;
    l.add(on_recv(c));
    l.add(on_timeout(1h));
    weft::sleep_for(30min);
    EXPECT_EQ(took(), 30min);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(l.wait(), 1u);
      EXPECT_EQ(took(), 1h);
    }
    EXPECT_EQ(l.wait_for(30min), weft::select_list::npos);
    EXPECT_EQ(took(), 30min);
    EXPECT_EQ(l.wait_for(2h), 1u);
    EXPECT_EQ(took(), 1h);
    auto kept = on_timeout(1h);
    weft::sleep_for(30min);
    EXPECT_EQ(took(), 30min);
    EXPECT_EQ(weft::select(on_recv(c), std::move(kept)), 1u);
    EXPECT_EQ(took(), 1h) << "when the waiting began";
  });
}

}  // namespace
