// lock_rank_test.cpp: what the lock ranks allow. (What they forbid is fatal: tests/death/internal_test.cpp.)
#include "os/lock_rank.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <thread>
#include <tuple>

#include "os/lock.hpp"

namespace weft::os {
namespace {

template <lock_rank... Ranks>
void take_in_this_order() {
  std::tuple<lock<Ranks>...> locks;
  std::apply(
      [](auto&... each) {
        (each.lock(), ...);
        const bool are_held = (each.is_held() && ...);
        EXPECT_TRUE(are_held);
        (each.unlock(), ...);  // in whatever order
      },
      locks);
}

TEST(lock_rank, all_can_be_taken_in_their_order_and_again) {
  for (int i = 0; i < 2; ++i)
    take_in_this_order<lock_rank::world, lock_rank::alarm, lock_rank::channel, lock_rank::waiters,
                       lock_rank::scheduler, lock_rank::timers, lock_rank::slab, lock_rank::stacks,
                       lock_rank::libraries>();
}

TEST(lock_rank, several_channels_can_be_taken_in_the_order_of_their_addresses) {
  lock<lock_rank::channel> channels[3];
  for (auto& each : channels) each.lock();
  lock<lock_rank::timers> below;
  below.lock();
  below.unlock();
  for (auto& each : channels) each.unlock();
  EXPECT_FALSE(channels[0].is_held());
  channels[0].lock();  // nothing is left over of the higher ones
  channels[0].unlock();
}

// It cannot wait, so it cannot be part of a circle.
TEST(lock_rank, try_lock_may_take_any) {
  lock<lock_rank::stacks> last;
  lock<lock_rank::world> first;
  const lock_guard hold(last);
  ASSERT_TRUE(first.try_lock());
  first.unlock();
}

TEST(lock_rank, what_one_thread_holds_is_nothing_to_another) {
  lock<lock_rank::stacks> mine;
  const lock_guard hold(mine);
  std::thread([] { take_in_this_order<lock_rank::world, lock_rank::stacks>(); }).join();
}

// Some lie in users' objects as a bare word.
TEST(lock_rank, a_lock_is_one_word) {
  EXPECT_EQ(sizeof(lock<lock_rank::channel>), sizeof(std::uint32_t));
}

TEST(lock_rank, each_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kLockRanks; ++i)
    EXPECT_TRUE(names.insert(name_of(static_cast<lock_rank>(i))).second);
  EXPECT_EQ(names.count(""), 0u);
}

}  // namespace
}  // namespace weft::os
