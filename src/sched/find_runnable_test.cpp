// find_runnable_test.cpp: a thread without work: when it spins, and that it looks for nothing without a P (AC-4, AC-5, AC-6).
//
// The scheduler's state is set up by hand, without a runtime: eight Ps that nobody runs, and one M, played by a thread of the test.
// Whether it looked at the queues of others shows in its random numbers, of which only stealing takes any.
#include "sched/find_runnable.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>

#include "sched/procs.hpp"
#include "sched/queues.hpp"
#include "sched/schedule.hpp"
#include "sched/world.hpp"

namespace weft::sched {
namespace {

class find_work : public testing::Test {
 protected:
  static constexpr std::uint32_t kProcs = 8;

  void SetUp() override {
    if (sched.now.load() != phase::stopped) GTEST_SKIP() << "a runtime is active";
    ASSERT_TRUE(make_procs(kProcs));
    sched.nprocs.store(kProcs);
    all_busy();
    mp->random = base::rng(7);
  }

  void TearDown() override {
    all_busy();
    locked l;
    for (std::uint32_t i = 0; i < kProcs; ++i) p_at(i)->status.store(p_status::stopped);
    while (sched.runq.pop_front() != nullptr) continue;
    sched.nrunq.store(0);
    sched.nprocs.store(0);
    sched.nmidle.store(0);
    sched.spawner_note.clear();
  }

  // Every P is in use, by nobody in particular; nobody spins.
  void all_busy() {
    locked l;
    while (take_idle_locked() != nullptr) continue;
    for (std::uint32_t i = 0; i < kProcs; ++i) {
      p_at(i)->m.store(nullptr);
      p_at(i)->status.store(p_status::idle);
    }
    mp->p.store(nullptr);
    sched.nspinning.store(0);
    sched.needs_spinning.store(false);
  }

  void attach(std::uint32_t i) {
    locked l;
    attach_locked(p_at(i), mp.get());
  }

  // Runs body on a thread until it sleeps for want of a P; then meanwhile(); then the thread is told to end.
  void until_it_sleeps(const std::function<void()>& body, const std::function<void()>& meanwhile) {
    mp->is_doomed = false;
    std::thread t(body);
    const auto is_asleep = [&] {
      locked l;
      return sched.midle.contains(mp.get());
    };
    while (!is_asleep()) std::this_thread::yield();
    meanwhile();
    {
      locked l;
      if (sched.midle.contains(mp.get())) {
        sched.midle.remove(mp.get());
        mp->is_doomed = true;
        wake_m(mp.get());
      }
    }
    t.join();
  }

  // Whether an M that has run out of work tries to steal some, while so many Ps are idle and so many others spin.
  bool does_spin(std::uint32_t nidle, std::uint32_t nspinning) {
    all_busy();
    attach(0);
    {
      locked l;
      for (std::uint32_t i = kProcs - nidle; i < kProcs; ++i) put_idle_locked(p_at(i));
    }
    sched.nspinning.store(nspinning);
    base::rng before = mp->random;
    until_it_sleeps([&] { EXPECT_EQ(find_runnable(mp.get()), nullptr); },
                    [&] { EXPECT_EQ(sched.nspinning.load(), nspinning) << "it still counts"; });
    return mp->random.next() != before.next();
  }

  std::unique_ptr<M> mp = std::make_unique<M>();
  std::unique_ptr<G> gp = std::make_unique<G>();  // never runs
};

TEST_F(find_work, at_most_half_as_many_spin_as_ps_are_busy) {
  for (std::uint32_t nidle = 0; nidle < kProcs; ++nidle) {
    const std::uint32_t nbusy = kProcs - nidle;
    for (std::uint32_t nspinning = 0; nspinning < nbusy; ++nspinning) {
      EXPECT_EQ(does_spin(nidle, nspinning), 2 * nspinning < nbusy)
          << nspinning << " spin, " << nbusy << " Ps are busy";
    }
  }
}

TEST_F(find_work, a_thread_without_a_p_waits_for_one_before_it_looks) {
  put_global(gp.get());
  until_it_sleeps([&] { schedule(mp.get()); },
                  [&] {
                    EXPECT_EQ(mp->proc(), nullptr);
                    EXPECT_EQ(sched.nrunq.load(), 1u) << "it took work that it cannot run";
                  });
  EXPECT_EQ(sched.nrunq.load(), 1u);
}

TEST_F(find_work, a_thread_that_was_idle_looks_with_the_p_it_was_woken_with) {
  attach(0);
  G* found = nullptr;
  until_it_sleeps([&] { found = find_runnable(mp.get()); },
                  [&] {
                    EXPECT_EQ(p_at(0)->m.load(), nullptr) << "it sleeps with a P";
                    put_local(p_at(3), gp.get());
                    M* woken;
                    {
                      locked l;
                      woken = start_locked(p_at(3), false);
                    }
                    EXPECT_EQ(woken, mp.get());
                    wake_m(woken);
                  });
  EXPECT_EQ(found, gp.get());
  EXPECT_EQ(mp->proc(), p_at(3));
  EXPECT_EQ(p_at(3)->m.load(), mp.get());
  EXPECT_EQ(p_at(3)->status.load(), p_status::running);
}

}  // namespace
}  // namespace weft::sched
