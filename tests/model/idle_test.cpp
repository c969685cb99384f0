// idle_test.cpp: submit, spin, park: rt/idle_protocol.hpp between real queues, locks and notes, [idle.no_lost_wake].
#include <gtest/gtest.h>

#include "miniature_scheduler.hpp"

namespace weft::model {
namespace {

using two = miniature_scheduler<2>;
using three = miniature_scheduler<3>;

template <class World>
void all_have_run(World& w) {
  w.expect_all_have_run();
}

template <class World>
void all_but_a_ring_have_run(World& w) {
  w.expect_all_have_run_but_for_a_ring();
}

constexpr bounds kUntilAllSleep{.may_end_asleep = true};

// The same, and the one that computed comes back: then no memory may lose anything.
TEST(idle_model, what_is_pushed_into_the_ring_is_run_at_the_latest_by_its_own_p) {
  struct world : two {
    world() { begin_running(0), begin_idle(1); }
  };
  explore<world>({[](world& w) {
                    w.go(w.threads[0]);
                    w.go(w.threads[0]);
                    w.schedule(w.threads[0]);
                  },
                  [](world& w) { w.sleep_then_schedule(w.threads[1]); }},
                 &all_have_run<world>, kUntilAllSleep);
}

// One goes idle while the other readies something: the oldest bug of this kind.
TEST(idle_model, what_is_readied_while_another_goes_idle_is_run) {
  struct world : two {
    world() { begin_running(0), begin_running(1); }
  };
  explore<world>({[](world& w) {
                    w.go(w.threads[0]);
                    // computes on, so that nobody but another M can run it; then looks round itself
                    w.schedule(w.threads[0]);
                  },
                  [](world& w) { w.schedule(w.threads[1]); }},
                 &all_have_run<world>, kUntilAllSleep);
}

// And the one that readied it never looks at its queue again.
TEST(idle_model, also_if_its_own_p_never_comes_back_to_it) {
  struct world : two {
    world() { begin_running(0), begin_running(1); }
  };
  explore<world>({[](world& w) { w.go(w.threads[0]); }, [](world& w) { w.schedule(w.threads[1]); }},
                 &all_have_run<world>, kUntilAllSleep);
}

TEST(idle_model, one_that_sleeps_is_woken_for_what_is_readied) {
  struct world : two {
    world() { begin_running(0), begin_idle(1); }
  };
  explore<world>({[](world& w) {
                    w.go(w.threads[0]);
                    w.go(w.threads[0]);
                  },
                  [](world& w) { w.sleep_then_schedule(w.threads[1]); }},
                 &all_but_a_ring_have_run<world>, kUntilAllSleep);
}

TEST(idle_model, what_a_plain_thread_submits_is_run_by_one_that_goes_idle_or_sleeps) {
  struct world : two {
    world() { begin_running(0), begin_idle(1); }
  };
  explore<world>(
      {[](world& w) { w.schedule(w.threads[0]); },
       [](world& w) { w.sleep_then_schedule(w.threads[1]); }, [](world& w) { w.submit(); }},
      &all_have_run<world>, kUntilAllSleep);
}

TEST(idle_model, what_two_submit_at_once_is_run) {
  struct world : two {
    world() { begin_running(0), begin_running(1); }
  };
  explore<world>(
      {[](world& w) { w.schedule(w.threads[0]); }, [](world& w) { w.schedule(w.threads[1]); },
       [](world& w) { w.submit(); }, [](world& w) { w.submit(); }},
      &all_have_run<world>, kUntilAllSleep);
}

// The one that computes readies two: whoever finds the first must see to it that somebody looks for the second.
TEST(idle_model, a_spinner_that_finds_work_wakes_the_next) {
  struct world : three {
    world() { begin_running(0), begin_idle(1), begin_idle(2); }
  };
  explore<world>({[](world& w) {
                    w.go(w.threads[0]);
                    w.go(w.threads[0]);
                  },
                  [](world& w) { w.sleep_then_schedule(w.threads[1]); },
                  [](world& w) { w.sleep_then_schedule(w.threads[2]); }},
                 &all_but_a_ring_have_run<world>, kUntilAllSleep);
}

// golang/go#45867 and its like: a wake-up finds no idle P, another submitter trusts its count, and the P that is dropped next was not
// looked round for.
TEST(idle_model, who_trusted_a_spinner_that_found_no_p_is_not_forgotten) {
  struct world : three {
    world() { begin_running(0), begin_running(1), begin_running(2); }
  };
  explore<world>({[](world& w) { w.go(w.threads[0]); }, [](world& w) { w.schedule(w.threads[1]); },
                  [](world& w) { w.schedule(w.threads[2]); }, [](world& w) { w.submit(); }},
                 &all_have_run<world>, kUntilAllSleep);
}

TEST(idle_model, a_p_that_is_taken_from_a_system_call_is_not_dropped_on_queued_work) {
  struct world : two {
    world() {
      begin_running(0);
      midle.push_front(&threads[1]);  // P1 is in sysmon's hands
    }
  };
  explore<world>(
      {[](world& w) { w.go(w.threads[0]); }, [](world& w) { w.sleep_then_schedule(w.threads[1]); },
       [](world& w) { w.hand_off(&w.procs[1]); }, [](world& w) { w.submit(); }},
      &all_have_run<world>, kUntilAllSleep);
}

}  // namespace
}  // namespace weft::model
