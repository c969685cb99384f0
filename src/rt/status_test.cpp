// status_test.cpp: the tables of the steps of a goroutine and of a processor say what the design says.
#include "rt/status.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "rt/wait_reason.hpp"

namespace weft::rt {
namespace {

using enum g_status;

constexpr g_status kAll[] = {idle, runnable, running, syscall, waiting, preempted, dead, asleep};

TEST(g_status, exactly_these_steps_exist) {
  const std::set<std::pair<g_status, g_status>> steps = {
      {idle, runnable},     {idle, running},    {idle, dead},        {runnable, running},
      {running, runnable},  {running, waiting}, {running, syscall},  {running, preempted},
      {running, dead},      {syscall, running}, {syscall, runnable}, {syscall, waiting},
      {waiting, runnable},  {running, asleep},  {asleep, running},   {preempted, runnable},
      {preempted, running}, {dead, idle},
  };
  for (const g_status from : kAll) {
    for (const g_status to : kAll) {
      EXPECT_EQ(may_become(from, to), steps.contains({from, to}))
          << name_of(from) << " to " << name_of(to);
    }
  }
}

TEST(g_status, every_status_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (const g_status s : kAll) {
    EXPECT_FALSE(name_of(s).empty());
    EXPECT_TRUE(names.insert(name_of(s)).second);
  }
  EXPECT_EQ(names.size(), kStatusCount);
}

TEST(p_status, exactly_these_steps_exist) {
  using enum p_status;
  const std::set<std::pair<p_status, p_status>> steps = {
      {idle, running},    {idle, stopped}, {running, running},
      {running, syscall}, {running, idle}, {syscall, syscall},
      {syscall, running}, {syscall, idle}, {stopped, idle},
  };
  const p_status all[] = {idle, running, syscall, stopped};
  ASSERT_EQ(std::size(all), kPStatusCount);
  for (const p_status from : all) {
    for (const p_status to : all) {
      EXPECT_EQ(may_become(from, to), steps.contains({from, to}))
          << name_of(from) << " to " << name_of(to);
    }
  }
}

TEST(g_status, the_trimming_mark_is_no_status) {
  for (const g_status s : kAll) EXPECT_EQ(static_cast<std::uint32_t>(s) & kWaitMarks, 0u);
}

TEST(wait_reason, every_reason_to_wait_has_words) {
  EXPECT_EQ(name_of(wait_reason::none), "");
  EXPECT_EQ(name_of(wait_reason::event), "event wait");
  EXPECT_EQ(name_of(wait_reason::wait_group), "wait_group wait");
  EXPECT_EQ(name_of(wait_reason::mutex_lock), "sync.Mutex.Lock");
  for (auto r = wait_reason::event; r <= wait_reason::main_goroutine;
       r = static_cast<wait_reason>(static_cast<int>(r) + 1)) {
    EXPECT_NE(name_of(r), "");
    EXPECT_NE(name_of(r), "unknown") << static_cast<int>(r);
  }
}

}  // namespace
}  // namespace weft::rt
