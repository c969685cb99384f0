// run_queue_test.cpp: the ring and the front: nothing lost, nothing twice, in order (B001-B003, B005).
#include "rt/run_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace weft::rt {
namespace {

struct item {
  std::atomic<int> taken{0};
};
using queue = basic_run_queue<base::std_atomics, item>;
using small_queue = basic_run_queue<base::std_atomics, item, 8>;

std::vector<item> items(std::size_t n) { return std::vector<item>(n); }

// B001
TEST(run_queue, for_every_fill_level_what_is_put_comes_out_in_order) {
  auto q = std::make_unique<queue>();
  auto all = items(queue::kCapacity);
  for (std::size_t level = 0; level <= queue::kCapacity; ++level) {
    ASSERT_TRUE(q->is_empty());
    ASSERT_EQ(q->pop(), nullptr);
    for (std::size_t i = 0; i < level; ++i) ASSERT_TRUE(q->push(&all[i]));
    ASSERT_EQ(q->ring_size(), level);
    ASSERT_EQ(q->is_empty(), level == 0);
    for (std::size_t i = 0; i < level; ++i) ASSERT_EQ(q->pop(i % 2 == 0), &all[i]);
    ASSERT_EQ(q->pop(), nullptr);
    ASSERT_EQ(q->pop(true), nullptr);
    ASSERT_TRUE(q->is_empty());
  }
}

TEST(run_queue, refuses_more_than_it_holds_and_spills_its_older_half) {
  auto q = std::make_unique<queue>();
  auto all = items(queue::kCapacity + 1);
  std::array<item*, queue::kSpill> out{};
  EXPECT_FALSE(q->spill_half(out.data())) << "an empty ring has nothing to spill";
  for (std::size_t i = 0; i < queue::kCapacity; ++i) ASSERT_TRUE(q->push(&all[i]));
  EXPECT_FALSE(q->push(&all[queue::kCapacity]));
  ASSERT_TRUE(q->spill_half(out.data()));
  for (std::size_t i = 0; i < queue::kSpill; ++i) EXPECT_EQ(out[i], &all[i]);
  EXPECT_EQ(q->ring_size(), queue::kCapacity - queue::kSpill);
  EXPECT_FALSE(q->spill_half(out.data())) << "it is not full any more";
  EXPECT_EQ(q->pop(), &all[queue::kSpill]);
}

TEST(run_queue, the_front_displaces_and_is_taken_once) {
  queue q;
  auto all = items(2);
  EXPECT_EQ(q.take_next(), nullptr);
  EXPECT_FALSE(q.has_next());
  EXPECT_EQ(q.set_next(&all[0]), nullptr);
  EXPECT_TRUE(q.has_next());
  EXPECT_FALSE(q.is_empty());
  EXPECT_EQ(q.ring_size(), 0u);
  EXPECT_EQ(q.set_next(&all[1]), &all[0]);
  EXPECT_EQ(q.take_next(), &all[1]);
  EXPECT_EQ(q.take_next(), nullptr);
  EXPECT_TRUE(q.is_empty());
}

TEST(run_queue, the_front_works_the_same_for_an_owner_without_thieves) {
  queue q;
  auto all = items(2);
  EXPECT_EQ(q.set_next(&all[0], true), nullptr);
  EXPECT_EQ(q.set_next(&all[1], true), &all[0]);
  EXPECT_EQ(q.take_next(true), &all[1]);
  EXPECT_EQ(q.take_next(true), nullptr);
  EXPECT_TRUE(q.is_empty());
}

// B002
TEST(run_queue, a_steal_takes_half_and_each_is_in_exactly_one_place) {
  for (std::size_t level = 0; level <= queue::kCapacity; ++level) {
    auto victim = std::make_unique<queue>();
    auto thief = std::make_unique<queue>();
    auto all = items(level);
    for (auto& i : all) ASSERT_TRUE(victim->push(&i));
    std::size_t nstolen = 0;
    if (item* const got = thief->steal_into(*victim, false)) {
      ++got->taken;
      ++nstolen;
    }
    nstolen += thief->ring_size();
    while (item* const i = thief->pop()) ++i->taken;
    std::size_t nleft = 0;
    for (; item* const i = victim->pop(); ++nleft) ++i->taken;
    for (const auto& i : all) ASSERT_EQ(i.taken, 1) << "at level " << level;
    ASSERT_TRUE(nstolen == level / 2 || nstolen == level / 2 + level % 2)
        << nstolen << " of " << level;
    ASSERT_EQ(nstolen + nleft, level);
  }
}

TEST(run_queue, the_front_is_stolen_only_when_asked_for_and_only_from_an_empty_ring) {
  queue victim;
  queue thief;
  auto all = items(2);
  victim.set_next(&all[0]);
  bool took_next = false;
  EXPECT_EQ(thief.steal_into(victim, false, &took_next), nullptr);
  EXPECT_FALSE(took_next);
  ASSERT_TRUE(victim.push(&all[1]));
  EXPECT_EQ(thief.steal_into(victim, true, &took_next), &all[1]);
  EXPECT_FALSE(took_next);
  EXPECT_EQ(thief.steal_into(victim, true, &took_next), &all[0]);
  EXPECT_TRUE(took_next);
  EXPECT_TRUE(victim.is_empty());
  EXPECT_TRUE(thief.is_empty());
}

// HAZARD 10, the indices' wrap: a ring of eight goes round very often. (That the 32-bit indices wrap is the explorer's.)
TEST(run_queue, goes_round_many_times) {
  small_queue q;
  auto all = items(8);
  std::size_t in = 0;
  std::size_t out = 0;
  for (int i = 0; i < 100'000; ++i) {
    while (in - out < static_cast<std::size_t>(1 + i % 8)) {
      ASSERT_TRUE(q.push(&all[in % 8]));
      ++in;
    }
    ASSERT_EQ(q.pop(), &all[out % 8]);
    ++out;
  }
}

// HAZARD 9: an owner that pushes, pops, displaces and spills, and thieves that steal all the while: every item is taken once.
template <class Queue>
void take_turns(int nthieves, std::size_t nitems) {
  auto mine = std::make_unique<Queue>();
  auto all = items(nitems);
  std::atomic<bool> stop{false};
  std::vector<std::thread> thieves;
  for (int t = 0; t < nthieves; ++t) {
    thieves.emplace_back([&, t] {
      auto q = std::make_unique<Queue>();
      while (!stop) {
        if (item* const got = q->steal_into(*mine, t % 2 == 0)) ++got->taken;
        while (item* const got = q->pop()) ++got->taken;
      }
    });
  }
  std::vector<item*> spilled;
  std::array<item*, Queue::kSpill> out{};
  const auto put = [&](item* i) {
    while (!mine->push(i)) {
      if (mine->spill_half(out.data())) spilled.insert(spilled.end(), out.begin(), out.end());
    }
  };
  for (std::size_t i = 0; i < nitems; ++i) {
    if (i % 3 == 0) {
      if (item* const displaced = mine->set_next(&all[i])) put(displaced);
    } else {
      put(&all[i]);
    }
    if (i % 5 == 0) {
      if (item* const got = mine->take_next()) ++got->taken;
    }
    if (i % 7 < 3) {
      if (item* const got = mine->pop()) ++got->taken;
    }
  }
  if (item* const got = mine->take_next()) ++got->taken;
  while (item* const got = mine->pop()) ++got->taken;
  stop = true;
  for (auto& t : thieves) t.join();
  for (item* const i : spilled) ++i->taken;
  EXPECT_TRUE(mine->is_empty());
  for (std::size_t i = 0; i < nitems; ++i) ASSERT_EQ(all[i].taken, 1) << "item " << i;
}

TEST(run_queue_race, with_one_thief_every_item_is_taken_once) { take_turns<queue>(1, 100'000); }
TEST(run_queue_race, with_three_thieves_every_item_is_taken_once) { take_turns<queue>(3, 100'000); }
TEST(run_queue_race, in_a_tiny_ring_every_item_is_taken_once) {
  take_turns<small_queue>(2, 100'000);
}

// B003: one item, moved by its owner from the front to the ring and back without ever leaving the queue: nobody may see it empty.
// An owner that takes and puts back does leave it, so the moves are those that keep it in: displacing.
TEST(run_queue_race, never_looks_empty_while_one_moves_between_front_and_ring) {
  auto q = std::make_unique<queue>();
  auto all = items(2);
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> looks{0};
  std::atomic<int> seen_empty{0};
  ASSERT_TRUE(q->push(&all[0]));
  std::thread observer([&] {
    while (!stop) {
      if (q->is_empty()) ++seen_empty;
      ++looks;
    }
  });
  while (looks == 0) std::this_thread::yield();
  for (int i = 0; i < 100'000; ++i) {
    // At least one of the two is in at every moment.
    switch (i % 4) {
      case 0: {  // ring has a: b to the front, a out, b displaced into the ring by a
        q->set_next(&all[1]);
        item* const a = q->pop();
        item* const b = q->set_next(a);
        ASSERT_EQ(b, &all[1]);
        q->push(b);
        ASSERT_EQ(q->take_next(), &all[0]);
        break;
      }
      case 1: {  // ring has b: a behind it, b out
        q->push(&all[0]);
        ASSERT_EQ(q->pop(), &all[1]);
        break;
      }
      case 2: {  // ring has a: b to the front and both stay a while, then a out and b to the ring through the front
        q->set_next(&all[1]);
        ASSERT_EQ(q->pop(), &all[0]);
        ASSERT_EQ(q->set_next(&all[0]), &all[1]);
        q->push(&all[1]);
        ASSERT_EQ(q->take_next(), &all[0]);
        break;
      }
      default: {  // ring has b: back to a
        q->push(&all[0]);
        ASSERT_EQ(q->pop(), &all[1]);
        break;
      }
    }
  }
  stop = true;
  observer.join();
  EXPECT_EQ(seen_empty, 0) << "in " << looks << " looks";
}

}  // namespace
}  // namespace weft::rt
