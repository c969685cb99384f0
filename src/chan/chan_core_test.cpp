// chan_core_test.cpp: the steps of a channel one by one, with parties that are only names.
#include "chan/chan_core.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "chan/select_core.hpp"
#include "os/futex.hpp"

namespace weft::channels {
namespace {

struct party {
  bool is_gone = false;
};
struct by_flag {
  static bool is_gone(const party* p) noexcept { return p->is_gone; }
};
using test_core = chan_core<os::futex_atomics, party, by_flag>;
using test_record = test_core::record_type;
using test_shared = shared_wait<os::futex_atomics, party>;

// A channel of longs with room for at most 8.
struct channel_of_longs {
  explicit channel_of_longs(std::size_t capacity) : c(sizeof(long), capacity, buffer.data()) {}
  alignas(long) std::array<std::byte, 8 * sizeof(long)> buffer{};
  test_core c;

  step send(long v, party*& wake) { return c.send(&v, wake); }
  step send(long v) {
    party* wake = nullptr;
    const step s = send(v, wake);
    EXPECT_EQ(wake, nullptr);
    return s;
  }
  std::pair<step, long> recv() {
    party* wake = nullptr;
    long v = -1;
    const step s = c.recv(&v, wake);
    return {s, v};
  }
};

TEST(chan_core, a_send_goes_to_one_who_waits_before_it_goes_into_the_buffer) {
  channel_of_longs ch(1);
  party first;
  party second;
  long to_first = 0;
  long to_second = 0;
  test_record r1{.who = &first, .elem = &to_first};
  test_record r2{.who = &second, .elem = &to_second};
  ch.c.receivers().push(&r1);
  ch.c.receivers().push(&r2);
  party* wake = nullptr;
  EXPECT_EQ(ch.send(7, wake), step::done);
  EXPECT_EQ(wake, &first);
  EXPECT_EQ(to_first, 7);
  EXPECT_TRUE(r1.has_passed);
  EXPECT_FALSE(r1.is_queued);
  EXPECT_EQ(ch.c.length(), 0u);
  EXPECT_EQ(ch.send(8, wake), step::done);
  EXPECT_EQ(wake, &second);
  EXPECT_EQ(ch.send(9), step::done) << "into the buffer";
  EXPECT_EQ(ch.c.length(), 1u);
  EXPECT_EQ(ch.send(10), step::must_wait);
}

TEST(chan_core, a_receive_makes_room_for_a_sender_that_waits) {
  channel_of_longs ch(2);
  ch.send(1);
  ch.send(2);
  party p;
  long waiting_value = 3;
  test_record r{.who = &p, .elem = &waiting_value};
  ch.c.senders().push(&r);
  party* wake = nullptr;
  long got = 0;
  EXPECT_EQ(ch.c.recv(&got, wake), step::done);
  EXPECT_EQ(got, 1);
  EXPECT_EQ(wake, &p);
  EXPECT_TRUE(r.has_passed);
  EXPECT_EQ(ch.c.length(), 2u);
  EXPECT_EQ(ch.recv().second, 2);
  EXPECT_EQ(ch.recv().second, 3);
  EXPECT_EQ(ch.recv().first, step::must_wait);
}

TEST(chan_core, without_a_buffer_the_value_comes_out_of_the_senders_hands) {
  channel_of_longs ch(0);
  EXPECT_EQ(ch.send(1), step::must_wait);
  party p;
  long value = 5;
  test_record r{.who = &p, .elem = &value};
  ch.c.senders().push(&r);
  EXPECT_FALSE(ch.c.seems_empty());
  party* wake = nullptr;
  long got = 0;
  EXPECT_EQ(ch.c.recv(&got, wake), step::done);
  EXPECT_EQ(got, 5);
  EXPECT_EQ(wake, &p);
  EXPECT_TRUE(ch.c.seems_empty());
}

TEST(chan_core, who_is_gone_or_claimed_elsewhere_is_passed_over) {
  channel_of_longs ch(0);
  party gone{true};
  party claimed;
  party there;
  long v = 0;
  rt::timed_wait_word word;
  test_shared shared{word};
  ASSERT_TRUE(word.park());
  ASSERT_TRUE(word.end(rt::wait_mark::timed_out));
  test_record r1{.who = &gone, .elem = &v};
  test_record r2{.who = &claimed, .elem = &v, .shared = &shared};
  test_record r3{.who = &there, .elem = &v};
  for (test_record* r : {&r1, &r2, &r3}) ch.c.receivers().push(r);
  party* wake = nullptr;
  EXPECT_EQ(ch.send(4, wake), step::done);
  EXPECT_EQ(wake, &there);
  EXPECT_EQ(shared.winner, nullptr);
  EXPECT_FALSE(r1.is_queued || r2.is_queued || r3.is_queued);
  EXPECT_TRUE(ch.c.receivers().seems_empty());
}

TEST(chan_core, closed_it_gives_what_is_left_and_nobody_waits) {
  channel_of_longs ch(2);
  ch.send(1);
  party p;
  long v = 9;
  test_record r{.who = &p, .elem = &v};
  ch.c.receivers().push(&r);  // not in order, but take_waiter() must find it
  EXPECT_TRUE(ch.c.has_waiters());
  EXPECT_TRUE(ch.c.close());
  EXPECT_FALSE(ch.c.close());
  EXPECT_EQ(ch.c.take_waiter(), &r);
  EXPECT_FALSE(r.has_passed);
  EXPECT_EQ(ch.c.take_waiter(), nullptr);
  EXPECT_EQ(ch.send(2), step::closed);
  EXPECT_FALSE(ch.c.seems_full()) << "whoever sends must find out";
  EXPECT_EQ(ch.recv(), std::pair(step::done, 1L));
  EXPECT_EQ(ch.recv().first, step::closed);
}

TEST(chan_core, a_record_can_be_taken_out_of_the_middle) {
  channel_of_longs ch(0);
  std::array<party, 4> p;
  std::array<test_record, 4> r;
  auto& q = ch.c.receivers();
  for (std::size_t i = 0; i < 4; ++i) {
    r[i].who = &p[i];
    q.push(&r[i]);
  }
  q.remove(&r[1]);
  q.remove(&r[3]);
  q.remove(&r[3]);  // again: nothing
  EXPECT_EQ(q.take(), &r[0]);
  EXPECT_EQ(q.take(), &r[2]);
  EXPECT_EQ(q.take(), nullptr);
  q.push(&r[3]);
  EXPECT_EQ(q.take(), &r[3]);
}

struct cell_like {
  void* link = nullptr;
  int v = 0;
};

TEST(chan_core, what_was_given_back_comes_first_and_takes_no_room) {
  std::array<void*, 2> buffer{};
  test_core c(sizeof(void*), 2, reinterpret_cast<std::byte*>(buffer.data()));
  std::array<cell_like, 4> cells;
  party* wake = nullptr;
  for (std::size_t i = 0; i < 2; ++i) {
    void* e = &cells[i];
    EXPECT_EQ(c.send(&e, wake), step::done);
  }
  void* got = nullptr;
  EXPECT_EQ(c.recv(&got, wake), step::done);
  EXPECT_EQ(got, &cells[0]);
  void* third = &cells[2];
  EXPECT_EQ(c.send(&third, wake), step::done) << "there was room";
  c.give_back(&cells[0], wake);
  EXPECT_EQ(c.length(), 3u);
  EXPECT_EQ(c.send(&third, wake), step::must_wait);
  party p;
  void* fourth = &cells[3];
  test_record r{.who = &p, .elem = &fourth};
  c.senders().push(&r);
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(c.recv(&got, wake), step::done);
    EXPECT_EQ(got, &cells[i]);
    EXPECT_EQ(r.has_passed, i >= 1) << "the sender came in when the buffer had room again";
  }
  EXPECT_EQ(c.recv(&got, wake), step::must_wait);
}

TEST(chan_core, what_is_taken_back_leaves_its_place_to_one_who_waits) {
  std::array<void*, 3> buffer{};
  test_core c(sizeof(void*), 3, reinterpret_cast<std::byte*>(buffer.data()));
  std::array<cell_like, 5> cells;
  party* wake = nullptr;
  void* got = nullptr;
  const auto send = [&](std::size_t i) {
    void* e = &cells[i];
    return c.send(&e, wake);
  };
  send(4);
  c.recv(&got, wake);  // so that the ring begins in the middle of its memory
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(send(i), step::done);
  EXPECT_FALSE(c.take_back(&cells[4], wake)) << "somebody has it";
  party p;
  void* third = &cells[3];
  test_record r{.who = &p, .elem = &third};
  c.senders().push(&r);
  EXPECT_TRUE(c.take_back(&cells[1], wake));
  EXPECT_EQ(wake, &p);
  EXPECT_TRUE(r.has_passed);
  EXPECT_EQ(c.length(), 3u);
  EXPECT_TRUE(c.take_back(&cells[2], wake));
  EXPECT_EQ(c.length(), 2u);
  for (const std::size_t i : {0, 3}) {
    ASSERT_EQ(c.recv(&got, wake), step::done);
    EXPECT_EQ(got, &cells[i]);
  }
  EXPECT_EQ(c.recv(&got, wake), step::must_wait);
}

TEST(chan_core, what_was_given_back_goes_to_one_who_waits) {
  std::array<void*, 1> buffer{};
  test_core c(sizeof(void*), 1, reinterpret_cast<std::byte*>(buffer.data()));
  cell_like cell;
  party p;
  void* got = nullptr;
  test_record r{.who = &p, .elem = &got};
  c.receivers().push(&r);
  party* wake = nullptr;
  c.give_back(&cell, wake);
  EXPECT_EQ(wake, &p);
  EXPECT_EQ(got, &cell);
  EXPECT_TRUE(r.has_passed);
  EXPECT_EQ(c.length(), 0u);
}

// --- several ---

struct test_slot {
  test_core* chan = nullptr;
  void* elem = nullptr;
  bool is_send = false;
  std::uint32_t poll_order = 0;
  std::uint32_t lock_order = 0;
  test_record record;
};
struct test_slots {
  using core_type = test_core;
  static bool is_set(const test_slot& s) noexcept { return s.chan != nullptr; }
  static test_core& core(const test_slot& s) noexcept { return *s.chan; }
  static void* record(test_slot& s) noexcept { return &s.record; }
  static void catch_up(const test_slot&) noexcept {}
  static void left(test_slot&) noexcept {}
};
using test_selection = selection<test_slots, test_slot>;

TEST(select_core, locks_each_channel_once_and_frees_it_again) {
  std::array<channel_of_longs, 3> ch = {channel_of_longs(0), channel_of_longs(0),
                                        channel_of_longs(0)};
  long v = 0;
  std::array<test_slot, 6> slots;
  const std::array<int, 6> which = {2, 0, -1, 2, 1, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    slots[i].elem = &v;
    if (which[i] >= 0) slots[i].chan = &ch[static_cast<std::size_t>(which[i])].c;
  }
  base::rng random(1);
  test_selection all(slots.data(), slots.size(), random);
  EXPECT_EQ(all.size(), 5u);
  EXPECT_FALSE(all.try_each());
  EXPECT_FALSE(all.try_together());
  for (auto& each : ch) EXPECT_FALSE(each.c.lock().try_lock()) << "held";
  rt::timed_wait_word word;
  test_shared shared{word};
  party me;
  all.enter_all(&me, &shared);
  EXPECT_TRUE(word.park());
  all.unlock_all();
  for (auto& each : ch) {
    EXPECT_TRUE(each.c.lock().try_lock()) << "free";
    each.c.lock().unlock();
  }
  party* wake = nullptr;
  EXPECT_EQ(ch[1].send(3, wake), step::done);
  EXPECT_EQ(wake, &me);
  EXPECT_EQ(v, 3);
  EXPECT_EQ(ch[0].send(4), step::must_wait) << "claimed already";
  const auto won = all.withdraw_all(shared.winner);
  EXPECT_EQ(won.index, 4u);
  EXPECT_FALSE(won.is_closed);
  for (auto& each : ch) EXPECT_TRUE(each.c.receivers().seems_empty());
}

TEST(select_core, every_order_comes_up_about_as_often) {
  std::array<channel_of_longs, 3> ch = {channel_of_longs(1), channel_of_longs(1),
                                        channel_of_longs(1)};
  base::rng random(7);
  std::array<int, 27> n{};
  constexpr int kRounds = 6000;
  for (int i = 0; i < kRounds; ++i) {
    std::array<test_slot, 3> slots;
    for (std::size_t k = 0; k < 3; ++k) slots[k].chan = &ch[k].c;
    const test_selection all(slots.data(), 3, random);
    std::size_t code = 0;
    for (std::size_t k = 0; k < 3; ++k)
      code = 3 * code + static_cast<std::size_t>(&all.polled(k) - slots.data());
    ++n[code];
  }
  int norders = 0;
  for (const int each : n) {
    if (each == 0) continue;
    ++norders;
    EXPECT_GT(each, kRounds / 6 * 8 / 10);
    EXPECT_LT(each, kRounds / 6 * 12 / 10);
  }
  EXPECT_EQ(norders, 6);
}

TEST(select_core, the_first_look_takes_one_that_is_ready_and_no_other) {
  std::array<channel_of_longs, 2> ch = {channel_of_longs(1), channel_of_longs(1)};
  std::array<long, 3> got{};
  std::array<test_slot, 3> slots;  // the third has no channel
  for (std::size_t k = 0; k < 3; ++k) slots[k].elem = &got[k];
  for (std::size_t k = 0; k < 2; ++k) slots[k].chan = &ch[k].c;
  base::rng random(11);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(test_selection::try_one(slots.data(), 3, random));

  ASSERT_EQ(ch[1].send(7), step::done);
  std::size_t nfound = 0;
  for (int i = 0; i < 100; ++i) {
    const auto found = test_selection::try_one(slots.data(), 3, random);
    if (!found) continue;
    ++nfound;
    EXPECT_EQ(found.index, 1u);
    EXPECT_EQ(got[1], 7);
  }
  EXPECT_EQ(nfound, 1u) << "there was one value";
  for (auto& each : ch) {
    EXPECT_TRUE(each.c.lock().try_lock()) << "free";
    each.c.lock().unlock();
  }
}

TEST(select_core, the_first_look_falls_on_each_about_as_often) {
  std::array<channel_of_longs, 4> ch = {channel_of_longs(1), channel_of_longs(1),
                                        channel_of_longs(1), channel_of_longs(1)};
  long v = 0;
  std::array<test_slot, 4> slots;
  for (std::size_t k = 0; k < 4; ++k) {
    slots[k].chan = &ch[k].c;
    slots[k].elem = &v;
    ASSERT_EQ(ch[k].send(1), step::done);
  }
  base::rng random(5);
  std::array<int, 4> n{};
  constexpr int kRounds = 8000;
  for (int i = 0; i < kRounds; ++i) {
    const auto found = test_selection::try_one(slots.data(), 4, random);
    ASSERT_TRUE(found) << "all are ready";
    ++n[found.index];
    ASSERT_EQ(ch[found.index].send(1), step::done);
  }
  for (const int each : n) {
    EXPECT_GT(each, kRounds / 4 * 8 / 10);
    EXPECT_LT(each, kRounds / 4 * 12 / 10);
  }
}

TEST(select_core, sorts_many_channels_by_address) {
  constexpr std::size_t kMany = 1000;
  std::vector<std::unique_ptr<channel_of_longs>> ch;
  std::vector<test_slot> slots(kMany);
  base::rng random(3);
  for (std::size_t i = 0; i < kMany / 2; ++i) ch.push_back(std::make_unique<channel_of_longs>(0));
  for (auto& s : slots) s.chan = &ch[random.below(kMany / 2)]->c;
  test_selection all(slots.data(), kMany, random);
  ASSERT_FALSE(all.try_together());
  for (std::size_t i = 1; i < kMany; ++i)
    ASSERT_LE(slots[slots[i - 1].lock_order].chan, slots[slots[i].lock_order].chan);
  all.unlock_all();
  for (auto& each : ch) {
    ASSERT_TRUE(each->c.lock().try_lock());
    each->c.lock().unlock();
  }
}

}  // namespace
}  // namespace weft::channels
