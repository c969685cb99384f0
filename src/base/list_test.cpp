// list_test.cpp: the intrusive lists keep their links right (B009).
#include "base/list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft::base {
namespace {

struct node {
  int value = 0;
  node* next = nullptr;
  list_link<node> link;
};
using queue = forward_queue<node, &node::next>;
using list = linked_list<node, &node::link>;

std::array<node, 5> make_nodes() {
  std::array<node, 5> nodes;
  for (int i = 0; i < 5; ++i) nodes[static_cast<std::size_t>(i)].value = i;
  return nodes;
}

std::vector<int> drain(queue& q) {
  std::vector<int> values;
  while (node* const n = q.pop_front()) values.push_back(n->value);
  return values;
}

std::vector<int> values_of(const list& l) {
  std::vector<int> values;
  for (const node* n = l.front(); n != nullptr; n = l.next(n)) values.push_back(n->value);
  return values;
}

TEST(forward_queue, gives_back_in_order_and_is_empty_then) {
  auto nodes = make_nodes();
  queue q;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.pop_front(), nullptr);
  for (node& n : nodes) q.push_back(&n);
  EXPECT_EQ(q.size(), 5u);
  EXPECT_EQ(q.front(), &nodes[0]);
  EXPECT_EQ(drain(q), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.size(), 0u);
  for (const node& n : nodes) EXPECT_EQ(n.next, nullptr);
}

TEST(forward_queue, take_at_takes_the_one_so_many_stand_before_and_the_end_stays_right) {
  auto nodes = make_nodes();
  queue q;
  EXPECT_EQ(q.take_at(0), nullptr);
  for (node& n : nodes) q.push_back(&n);
  EXPECT_EQ(q.take_at(5), nullptr);
  EXPECT_EQ(q.take_at(4), &nodes[4]);
  EXPECT_EQ(q.take_at(1), &nodes[1]);
  EXPECT_EQ(nodes[1].next, nullptr);
  EXPECT_EQ(q.size(), 3u);
  q.push_back(&nodes[1]);
  EXPECT_EQ(q.take_at(0), &nodes[0]);
  EXPECT_EQ(drain(q), (std::vector<int>{2, 3, 1}));
  q.push_back(&nodes[0]);
  EXPECT_EQ(q.take_at(0), &nodes[0]);
  EXPECT_TRUE(q.empty());
  q.push_back(&nodes[1]);
  EXPECT_EQ(drain(q), (std::vector<int>{1}));
}

TEST(forward_queue, push_front_comes_out_first_also_into_an_empty_one) {
  auto nodes = make_nodes();
  queue q;
  q.push_front(&nodes[1]);
  q.push_back(&nodes[2]);
  q.push_front(&nodes[0]);
  EXPECT_EQ(drain(q), (std::vector<int>{0, 1, 2}));
  q.push_back(&nodes[3]);
  EXPECT_EQ(drain(q), (std::vector<int>{3}));
}

TEST(forward_queue, splice_appends_all_and_empties_the_other) {
  auto nodes = make_nodes();
  queue a;
  queue b;
  queue none;
  a.splice_back(none);
  EXPECT_TRUE(a.empty());
  b.push_back(&nodes[0]);
  b.push_back(&nodes[1]);
  a.splice_back(b);  // into an empty one
  EXPECT_TRUE(b.empty());
  EXPECT_EQ(b.size(), 0u);
  b.push_back(&nodes[2]);
  a.splice_back(b);
  a.splice_back(none);
  a.push_back(&nodes[3]);
  EXPECT_EQ(a.size(), 4u);
  EXPECT_EQ(drain(a), (std::vector<int>{0, 1, 2, 3}));
}

TEST(linked_list, pushes_at_both_ends) {
  auto nodes = make_nodes();
  list l;
  l.push_back(&nodes[1]);
  l.push_back(&nodes[2]);
  l.push_front(&nodes[0]);
  EXPECT_EQ(values_of(l), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(l.size(), 3u);
  EXPECT_EQ(l.pop_front(), &nodes[0]);
  EXPECT_EQ(l.pop_front(), &nodes[1]);
  EXPECT_EQ(l.pop_front(), &nodes[2]);
  EXPECT_EQ(l.pop_front(), nullptr);
  EXPECT_TRUE(l.empty());
}

// Every order in which three can be removed: head, middle and tail, down to none.
TEST(linked_list, removes_head_middle_and_tail_in_any_order) {
  std::array<std::size_t, 3> order = {0, 1, 2};
  do {
    auto nodes = make_nodes();
    list l;
    for (std::size_t i = 0; i < 3; ++i) l.push_back(&nodes[i]);
    std::vector<int> left = {0, 1, 2};
    for (const std::size_t i : order) {
      l.remove(&nodes[i]);
      std::erase(left, static_cast<int>(i));
      EXPECT_EQ(values_of(l), left);
      EXPECT_FALSE(l.contains(&nodes[i]));
      EXPECT_EQ(l.size(), left.size());
    }
    l.push_back(&nodes[4]);  // the ends were left right
    l.push_front(&nodes[3]);
    EXPECT_EQ(values_of(l), (std::vector<int>{3, 4}));
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(linked_list, knows_what_it_contains) {
  auto nodes = make_nodes();
  list a;
  list b;
  a.push_back(&nodes[0]);
  EXPECT_TRUE(a.contains(&nodes[0]));
  EXPECT_FALSE(b.contains(&nodes[0]));
  EXPECT_FALSE(a.contains(&nodes[1]));
}

TEST(linked_list, removing_what_is_not_in_it_is_caught_in_debug_builds) {
  if (!kWeftDebugChecks) GTEST_SKIP() << "needs WEFT_DEBUG_CHECKS";
  auto nodes = make_nodes();
  list a;
  list b;
  b.push_back(&nodes[0]);
  EXPECT_DEATH(a.remove(&nodes[0]), "");
  EXPECT_DEATH(a.remove(&nodes[1]), "");
  EXPECT_DEATH(a.push_back(&nodes[0]), "");
}

}  // namespace
}  // namespace weft::base
