// start_test.cpp: what a goroutine begins with.
#include "sched/start.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "rt/g_slab.hpp"

namespace weft::sched {
namespace {

// Sysmon looks at goroutines that are not its own: it may write down what it has seen of one that has ended meanwhile.
TEST(start, nothing_is_left_of_what_was_known_of_the_last_owner_of_a_g) {
  G* const ended = new_g(nullptr);
  ASSERT_NE(ended, nullptr);
  ended->become(g_status::dead);
  free_g(nullptr, ended);
  ended->set_manner(G::kHabit, true);
  std::vector<G*> all;
  do {
    all.push_back(new_g(nullptr));
    ASSERT_NE(all.back(), nullptr);
  } while (all.back() != ended);
  EXPECT_FALSE(ended->has_habit());
  for (G* const gp : all) {
    gp->become(g_status::dead);
    free_g(nullptr, gp);
  }
}

}  // namespace
}  // namespace weft::sched
