// chan_values.cpp: what may travel through a channel, and what becomes of it when something throws or the channel dies
// (B157, B158, B163, B164).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
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

namespace {

// --- kinds ---

TEST_FOR_PROCS(chan_value, move_only) {
  for (const std::size_t capacity : {0u, 2u}) {
    const auto c = weft::make_chan<std::unique_ptr<int>>(capacity);
    weft::go([c] {
      for (int i = 0; i < 10; ++i) c.send(std::make_unique<int>(i));
      c.close();
    });
    int n = 0;
    for (std::unique_ptr<int>& v : c) EXPECT_EQ(*v, n++);
    EXPECT_EQ(n, 10);
  }
}

TEST_FOR_PROCS(chan_value, strings) {
  const auto c = weft::make_chan<std::string>(2);
  const std::string kept = "a text that is too long to be kept inside a string object";
  weft::go([&kept, c] {
    c.send(kept);
    c.send("short");
    c.send(std::string(kept));
    c.close();
  });
  EXPECT_EQ(c.recv(), kept);
  EXPECT_EQ(c.recv(), "short");
  EXPECT_EQ(c.recv(), kept);
  EXPECT_EQ(c.recv(), std::nullopt);
  EXPECT_EQ(kept.size(), 57u);
}

struct empty {};
struct one_byte {
  char c;
};
struct big {
  std::array<std::uint32_t, 20'000> words;
};
struct alignas(256) aligned {
  int v;
};
struct without_default {
  explicit without_default(int i) : v(i) {}
  int v;
};

TEST_FOR_PROCS(chan_value, of_no_size_one_byte_and_many) {
  for (const std::size_t capacity : {0u, 3u}) {
    const auto e = weft::make_chan<empty>(capacity);
    const auto o = weft::make_chan<one_byte>(capacity);
    const auto b = weft::make_chan<big>(capacity);
    weft::go({.stack_size = 1 << 20}, [=] {
      e.send({});
      o.send({'x'});
      big value;
      for (std::uint32_t i = 0; i < value.words.size(); ++i) value.words[i] = i * 7;
      b.send(value);
    });
    weft::spawn({.stack_size = 1 << 20}, [=] {
      EXPECT_TRUE(e.recv().has_value());
      EXPECT_EQ(o.recv()->c, 'x');
      const std::optional<big> value = b.recv();
      for (std::uint32_t i = 0; i < value->words.size(); ++i) ASSERT_EQ(value->words[i], i * 7);
    }).join();
  }
}

TEST_FOR_PROCS(chan_value, over_aligned_and_without_default_constructor) {
  const auto a = weft::make_chan<aligned>(3);
  for (int i = 0; i < 3; ++i) a.send({i});
  for (int i = 0; i < 3; ++i) {
    const std::optional<aligned> v = a.recv();
    EXPECT_EQ(v->v, i);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&*v) % 256, 0u);
  }
  const auto w = weft::make_chan<without_default>(1);
  w.send(without_default(4));
  EXPECT_EQ(w.recv()->v, 4);
}

// A handle to a channel of what it stands in.
struct passed_on {
  int v = 0;
  weft::chan<passed_on> back = {};
  std::optional<weft::send_chan<passed_on>> perhaps = {};
  std::vector<weft::recv_chan<passed_on>> others = {};
};

TEST_FOR_PROCS(chan_value, that_holds_a_channel_of_its_own_type) {
  const auto c = weft::make_chan<passed_on>(1);
  const auto back = weft::make_chan<passed_on>(1);
  c.send({.v = 1, .back = back, .perhaps = back, .others = {c, back}});
  const std::optional<passed_on> got = c.recv();
  got->back.send({.v = got->v + 1});
  EXPECT_EQ(got->others[1].recv()->v, 2);
  EXPECT_FALSE(got->perhaps->try_send(passed_on()) && got->perhaps->try_send(passed_on()));
}

TEST(chan_value_absurd, a_buffer_that_cannot_be_is_refused) {
  EXPECT_THROW((void)weft::make_chan<big>(SIZE_MAX / 4), std::length_error);
  EXPECT_THROW((void)weft::make_chan<std::string>(SIZE_MAX), std::length_error);
  EXPECT_EQ(weft::make_chan<void>(SIZE_MAX).cap(), SIZE_MAX) << "signals take no room";
}

// --- counted ---

// Knows how many of it there are, and throws when told to.
struct counted {
  static inline std::atomic<int> nalive{0};
  static inline std::atomic<int> ncopies{0};
  static inline std::atomic<int> nmoves{0};
  int v;

  explicit counted(int i) : v(i) { ++nalive; }
  counted(const counted& other) : v(other.v) {
    ++nalive;
    ++ncopies;
  }
  counted(counted&& other) noexcept : v(std::exchange(other.v, -1)) {
    ++nalive;
    ++nmoves;
  }
  counted& operator=(const counted&) = default;
  counted& operator=(counted&& other) noexcept {
    v = std::exchange(other.v, -1);
    return *this;
  }
  ~counted() { --nalive; }
};

TEST_FOR_PROCS(chan_value, what_is_left_in_a_channel_is_destroyed_once) {
  {
    const auto c = weft::make_chan<counted>(5);
    for (int i = 0; i < 4; ++i) c.send(counted(i));
    EXPECT_EQ(c.recv()->v, 0);
    EXPECT_EQ(counted::nalive, 3);
  }
  EXPECT_EQ(counted::nalive, 0);
}

TEST_FOR_PROCS(chan_value, an_rvalue_that_is_not_taken_is_not_moved_from) {
  const auto full = weft::make_chan<counted>();
  counted mine(7);
  const int before = counted::nmoves;
  EXPECT_FALSE(full.try_send(std::move(mine)));
  EXPECT_EQ(counted::nmoves, before);
  EXPECT_EQ(mine.v, 7);
  EXPECT_FALSE(full.send_for(std::move(mine), 1ms));
  EXPECT_EQ(mine.v, 7);
  full.close();
  EXPECT_THROW(full.send(std::move(mine)), weft::closed_channel);
  EXPECT_EQ(mine.v, 7);
  EXPECT_THROW(full.try_send(std::move(mine)), weft::closed_channel);
  EXPECT_EQ(mine.v, 7);
}

TEST_FOR_PROCS(chan_value, a_send_that_close_ends_leaves_its_value_alone) {
  const auto c = weft::make_chan<std::string>();
  std::string text = "a text that is too long to be kept inside a string object";
  weft::test::comer sender_comes;
  auto sender = weft::spawn([&] {
    sender_comes.comes();
    EXPECT_THROW(c.send(std::move(text)), weft::closed_channel);
  });
  ASSERT_TRUE(sender_comes.waits());
  c.close();
  sender.join();
  EXPECT_EQ(text.size(), 57u);
}

TEST_FOR_PROCS(chan_value, a_const_lvalue_is_copied_once_and_kept) {
  const auto c = weft::make_chan<counted>(1);
  const counted mine(3);
  const int before = counted::ncopies;
  c.send(mine);
  EXPECT_EQ(counted::ncopies, before + 1);
  EXPECT_EQ(mine.v, 3);
  EXPECT_EQ(c.recv()->v, 3);
}

// Moves without throwing, but cannot be assigned.
struct unassignable {
  explicit unassignable(int i) : v(i) {}
  unassignable(unassignable&& other) noexcept : v(std::exchange(other.v, -1)) {}
  unassignable& operator=(unassignable&&) = delete;
  ~unassignable() = default;
  int v;
};

TEST_FOR_PROCS(chan_value, what_was_not_sent_is_given_back_also_if_it_cannot_be_assigned) {
  const auto c = weft::make_chan<unassignable>();
  unassignable mine(7);
  EXPECT_FALSE(c.send_for(std::move(mine), 1ms));
  EXPECT_EQ(mine.v, 7);
  weft::test::comer sender_comes;
  auto sender = weft::spawn([&] {
    sender_comes.comes();
    EXPECT_THROW(c.send(std::move(mine)), weft::closed_channel);
  });
  ASSERT_TRUE(sender_comes.waits());
  c.close();
  sender.join();
  EXPECT_EQ(mine.v, 7);
}

// --- late: sent empty, and filled when it is known that it was accepted ---

// Takes its time to be moved: whoever has the cell meanwhile waits until it is there.
struct slow_to_move {
  static inline std::atomic<int> nalive{0};
  static inline std::atomic<int> nbegun{0};
  int v;

  explicit slow_to_move(int i) : v(i) { ++nalive; }
  slow_to_move(slow_to_move&& other) noexcept(false) : v(-1) {
    ++nbegun;
    for (int i = 0; i < 20; ++i) weft::yield();
    v = std::exchange(other.v, -2);
    ++nalive;
  }
  slow_to_move& operator=(slow_to_move&&) = delete;
  ~slow_to_move() { --nalive; }
};

TEST_FOR_PROCS(chan_late, who_receives_it_waits_until_it_is_filled) {
  {
    const auto c = weft::make_chan<slow_to_move>(4);
    constexpr int kRounds = 20;
    auto sender = weft::spawn([c] {
      for (int i = 0; i < kRounds; ++i) c.send(slow_to_move(i));
    });
    for (int i = 0; i < kRounds; ++i) ASSERT_EQ(c.recv()->v, i);
    sender.join();
  }
  EXPECT_EQ(slow_to_move::nalive, 0);
}

TEST_FOR_PROCS(chan_late, a_channel_dies_only_when_what_is_left_in_it_is_filled) {
  auto c = std::make_optional(weft::make_chan<slow_to_move>(1));
  const auto& by_reference = *c;
  const int nbefore = slow_to_move::nbegun;
  auto sender = weft::spawn([&] { by_reference.send(slow_to_move(1)); });
  ASSERT_TRUE(weft::test::eventually([&] { return slow_to_move::nbegun > nbefore; }));
  c.reset();  // the last handle, while the sender fills the cell
  sender.join();
  EXPECT_EQ(slow_to_move::nalive, 0);
}

// --- throwing ---

// Throws once, when it is copied or moved from for the n-th time; nothing has changed then. What is made of it throws n-1 times later.
struct throwing {
  static inline std::atomic<int> nalive{0};
  static constexpr int kNever = -1;
  int v;
  mutable int throw_at;

  explicit throwing(int i, int at = kNever) : v(i), throw_at(at) { ++nalive; }
  throwing(const throwing& other) : v(other.v), throw_at(other.next()) { ++nalive; }
  throwing(throwing&& other)  // NOLINT(performance-noexcept-move-constructor)
      : v(other.v), throw_at(other.next()) {
    other.v = -1;
    ++nalive;
  }
  throwing& operator=(const throwing&) = default;
  ~throwing() { --nalive; }

 private:
  int next() const {
    if (throw_at == 0) {
      throw_at = kNever;
      throw std::runtime_error("construction");
    }
    return throw_at == kNever ? kNever : throw_at - 1;
  }
};

TEST_FOR_PROCS(chan_throwing, a_copy_or_move_that_throws_in_send_sends_nothing) {
  const auto c = weft::make_chan<throwing>(2);
  throwing mine(5);
  mine.throw_at = 0;
  EXPECT_THROW(c.send(mine), std::runtime_error);
  mine.throw_at = 0;
  EXPECT_THROW(c.send(std::move(mine)), std::runtime_error);
  mine.throw_at = 0;
  EXPECT_THROW(c.try_send(mine), std::runtime_error);
  EXPECT_EQ(mine.v, 5);
  EXPECT_FALSE(c.try_recv().has_value()) << "nothing can be received of what was not sent";
  c.send(std::move(mine));
  EXPECT_EQ(c.recv()->v, 5);
}

TEST_FOR_PROCS(chan_throwing, what_throws_in_being_sent_leaves_the_room_to_others) {
  const auto c = weft::make_chan<throwing>(2);
  const auto expect_nothing_sent = [&](auto&& send) {
    throwing mine(5, 0);
    EXPECT_THROW(send(mine), std::runtime_error);
    EXPECT_EQ(mine.v, 5);
    EXPECT_EQ(c.len(), 1u);
  };
  c.send(throwing(1));
  expect_nothing_sent([&](throwing& v) { c.send(v); });
  expect_nothing_sent([&](throwing& v) { c.send(std::move(v)); });
  expect_nothing_sent([&](throwing& v) { c.try_send(v); });
  expect_nothing_sent([&](throwing& v) { c.try_send(std::move(v)); });
  expect_nothing_sent([&](throwing& v) { c.send_for(v, std::chrono::milliseconds(1)); });
  expect_nothing_sent([&](throwing& v) { weft::select(weft::on_send(c, v)); });
  expect_nothing_sent([&](throwing& v) { weft::select(weft::on_send(c, std::move(v))); });
  EXPECT_TRUE(c.try_send(throwing(2)));
  EXPECT_FALSE(c.try_send(throwing(3))) << "now it is full";
  for (int i = 1; i <= 2; ++i) EXPECT_EQ(c.recv()->v, i);
  EXPECT_EQ(c.len(), 0u);
}

TEST_FOR_PROCS(chan_throwing, a_move_that_throws_in_recv_leaves_the_value_in_the_channel) {
  {
    const auto c = weft::make_chan<throwing>(3);
    c.send(throwing(0, 1));  // into the cell, and then
    for (int i = 1; i < 3; ++i) c.send(throwing(i));
    EXPECT_THROW((void)c.recv(), std::runtime_error);
    EXPECT_EQ(c.len(), 3u);
    EXPECT_FALSE(c.try_send(throwing(9))) << "it is full, as before";
    for (int i = 0; i < 3; ++i) EXPECT_EQ(c.recv()->v, i) << "in its old place";
    EXPECT_EQ(c.len(), 0u);
    EXPECT_TRUE(c.try_send(throwing(9, 1)));
    EXPECT_THROW((void)c.try_recv(), std::runtime_error);
  }
  EXPECT_EQ(throwing::nalive, 0) << "what was given back died with the channel";
}

TEST_FOR_PROCS(chan_throwing, a_value_given_back_goes_to_one_who_waits) {
  const auto c = weft::make_chan<throwing>(1);
  c.send(throwing(1, 1));
  std::atomic<int> nthrown{0};
  std::atomic<int> sum{0};
  weft::wait_group wg;
  for (int i = 0; i < 2; ++i)
    wg.go([&] {
      try {
        sum += c.recv()->v;
      } catch (const std::runtime_error&) {
        ++nthrown;
        sum += c.recv()->v;
      }
    });
  c.send(throwing(2));
  wg.wait();
  EXPECT_EQ(nthrown, 1);
  EXPECT_EQ(sum, 3);
}

TEST_FOR_PROCS(chan_throwing, a_loop_over_the_channel_loses_nothing_either) {
  const auto c = weft::make_chan<throwing>(3);
  for (int i = 1; i <= 3; ++i) c.send(throwing(i, i == 2 ? 1 : throwing::kNever));
  c.close();
  int sum = 0;
  EXPECT_THROW(
      {
        for (const throwing& v : c) sum += v.v;
      },
      std::runtime_error);
  EXPECT_EQ(sum, 1);
  for (const throwing& v : c) sum += v.v;
  EXPECT_EQ(sum, 6);
}

TEST_FOR_PROCS(chan_throwing, meeting_works_for_types_that_may_throw) {
  {
    const auto c = weft::make_chan<throwing>();
    weft::go([c] {
      for (int i = 0; i < 50; ++i) c.send(throwing(i));
      c.close();
    });
    int n = 0;
    while (const auto v = c.recv()) EXPECT_EQ(v->v, n++);
    EXPECT_EQ(n, 50);
  }
  EXPECT_EQ(throwing::nalive, 0);
}

// --- death ---

TEST_FOR_PROCS(chan_death, a_handle_that_goes_while_peers_wait_leaves_them_waiting) {
  std::optional<weft::chan<int>> c = weft::make_chan<int>();
  const weft::chan<int>& by_reference = *c;
  weft::test::comer receiver;
  auto waits = weft::spawn([&] {
    receiver.comes();
    return by_reference.recv_for(1s);
  });
  ASSERT_TRUE(receiver.waits());
  c.reset();  // the last handle; nobody can send any more
  EXPECT_EQ(waits.join(), std::nullopt)
      << "and it was freed by the one that left last (ASan looks)";
}

TEST_FOR_PROCS(chan_death, who_waits_at_a_dead_channel_and_a_living_one_goes_on) {
  std::optional<weft::chan<std::string>> dead = weft::make_chan<std::string>(1);
  dead->send("left behind");
  const auto living = weft::make_chan<int>();
  const weft::chan<std::string>& by_reference = *dead;
  weft::test::comer chooser;
  auto waits = weft::spawn([&] {
    const std::string never = "never";
    chooser.comes();
    return weft::select(weft::on_send(by_reference, never), weft::on_recv(living));
  });
  ASSERT_TRUE(chooser.waits());
  dead.reset();
  living.send(1);
  EXPECT_EQ(waits.join(), 1u);
}

// B163: the value of a sender that waits lies on its stack, and the scavenger goes by.
TEST_FOR_PROCS(chan_value, a_sender_that_waits_long_keeps_its_value) {
  const auto c = weft::make_chan<std::array<int, 100>>();
  weft::go([c] {
    std::array<int, 100> value{};
    for (int i = 0; i < 100; ++i) value[static_cast<std::size_t>(i)] = i;
    c.send(value);
  });
  weft::sleep_for(5ms);
  const auto got = c.recv();
  for (int i = 0; i < 100; ++i) EXPECT_EQ((*got)[static_cast<std::size_t>(i)], i);
}

// Waiters that a runtime left behind when it ended are passed over.
TEST(chan_abandoned, values_go_to_the_living) {
  const auto c = weft::make_chan<int>();
  weft::run({.max_procs = 2}, [&] {
    weft::go([c] { c.recv(); });
    weft::go([c] { weft::select(weft::on_recv(c), weft::on_timeout(1h)); });
    weft::sleep_for(5ms);
  });
  weft::run({.max_procs = 2}, [&] {
    EXPECT_FALSE(c.try_send(1)) << "nobody who is alive waits";
    weft::go([c] { c.send(2); });
    EXPECT_EQ(c.recv(), 2);
  });
}

}  // namespace
