// sysmon_test.cpp: whose P the watchman takes, look by look.
//
// The scheduler's state is set up by hand, without a runtime: two Ps, of which a thread that sleeps in the kernel has one, as if its goroutine
// had called something that it has not announced; a goroutine that never runs waits in the ring of the other.
#include "sched/sysmon.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "os/clock.hpp"
#include "os/fault.hpp"
#include "os/membarrier.hpp"
#include "os/thread.hpp"
#include "os/thread_watch.hpp"
#include "sched/detach.hpp"
#include "sched/preempt.hpp"
#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/world.hpp"

namespace weft::sched {
namespace {

class sysmon_look : public testing::Test {
 protected:
  void SetUp() override {
    if (sched.now.load() != phase::stopped) GTEST_SKIP() << "a runtime is active";
    ASSERT_EQ(::pipe(ends_), 0);
    sleeper_ = std::thread([this] {
      mp->tid = os::thread_id();
      char byte;
      EXPECT_EQ(::read(ends_[0], &byte, 1), 0);
    });
    os::thread_watch eye;
    while (mp->tid == 0 || (eye.open(mp->tid), !eye.is_asleep())) std::this_thread::yield();
    ASSERT_TRUE(make_procs(2));
    sched.nprocs.store(2);
    for (std::uint32_t i = 0; i < 2; ++i) p_at(i)->become(p_status::idle);
    gp->become(g_status::idle);
    gp->become(g_status::running);
    mp->set_curg(gp.get());
    locked l;
    attach_locked(p_at(0), mp.get());
  }

  void TearDown() override {
    if (!sleeper_.joinable()) return;
    ::close(ends_[1]);
    sleeper_.join();
    ::close(ends_[0]);
    os::disarm_faults();
    locked l;
    unlist_lost_locked(mp.get());
    while (take_idle_locked() != nullptr) continue;
    while (sched.pstarting.pop_front() != nullptr) continue;
    for (std::uint32_t i = 0; i < 2; ++i) {
      p_at(i)->m.store(nullptr);
      p_at(i)->status.store(p_status::stopped);
      p_at(i)->wakes_spinning = false;
      p_at(i)->seen = {};
      while (p_at(i)->queue.pop() != nullptr) continue;
    }
    sched.nspinning.store(0);
    sched.needs_spinning.store(false);
    sched.nstopped_first = 0;
    sched.nprocs.store(0);
    sched.spawner_note.clear();
  }

  static bool is_taken() { return p_at(0)->m.load() == nullptr; }

  std::unique_ptr<M> mp = std::make_unique<M>();
  std::unique_ptr<G> gp = std::make_unique<G>();
  std::unique_ptr<G> waiting = std::make_unique<G>();

 private:
  int ends_[2] = {-1, -1};
  std::thread sleeper_;
};

TEST_F(sysmon_look,
       takes_a_sleepers_p_for_who_waits_elsewhere_only_if_they_were_short_of_ps_at_two_looks) {
  findings found = look_at_all(1 * os::kMillisecond, {});  // the first that sees this goroutine
  EXPECT_FALSE(found.none_free);
  found = look_at_all(2 * os::kMillisecond, found);
  put_local(p_at(1), waiting.get());
  found = look_at_all(3 * os::kMillisecond, found);
  EXPECT_TRUE(found.none_free);
  EXPECT_FALSE(is_taken()) << "the queue may be empty again in a microsecond";
  EXPECT_EQ(p_at(1)->queue.pop(), waiting.get());
  found = look_at_all(4 * os::kMillisecond, found);
  EXPECT_FALSE(found.none_free);
  put_local(p_at(1), waiting.get());
  found = look_at_all(5 * os::kMillisecond, found);
  EXPECT_FALSE(is_taken()) << "it was";
  found = look_at_all(6 * os::kMillisecond, found);
  EXPECT_TRUE(is_taken());
  EXPECT_TRUE(found.did_something);
}

// It would keep its P anyway, and a barrier is an interrupt on every CPU that runs one of our threads.
TEST_F(sysmon_look, asks_for_no_barrier_when_a_sleeper_is_not_to_be_preempted) {
  if (!os::init_membarrier(true)) GTEST_SKIP() << "this kernel has none that could be counted";
  for (const os::site each : {os::site::barrier, os::site::watch_open, os::site::watch_read})
    os::arm_fault(each, {.times = 0});  // counted only
  gp->manners = G::kNoPreempt;
  EXPECT_FALSE(take_from_sleeper(p_at(0)));
  EXPECT_EQ(os::fault_calls(os::site::barrier), 0u);
  EXPECT_EQ(os::fault_calls(os::site::watch_open) + os::fault_calls(os::site::watch_read), 0u)
      << "nor is it looked at";
  gp->manners = 0;
  EXPECT_TRUE(take_from_sleeper(p_at(0)));
  EXPECT_EQ(os::fault_calls(os::site::barrier), 1u);
}

}  // namespace
}  // namespace weft::sched
