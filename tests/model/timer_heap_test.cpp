// timer_heap_test.cpp: rt/timer_heap.hpp, and who sleeps until the next timer: [timer.cancel] [timer.idle] [timer.fire] [timer.no_lost_wake].
//
// The heap is the shipped one. The four steps of [timer.no_lost_wake] at the top of sched/timers.hpp are written out here, with the watcher's
// note and L: arm_timer() and ensure_watch() on the one side, become_watcher_locked() and recheck_watch() on the other.
#include "rt/timer_heap.hpp"

#include <gtest/gtest.h>

#include "explorer/explore.hpp"
#include "os/lock.hpp"
#include "os/note.hpp"
#include "parties.hpp"

namespace weft::model {
namespace {

using heap = rt::basic_timer_heap<model_atomics>;
using node = heap::timer;

struct world {
  heap timers;
  heap others;
  node nodes[2];
  plain<int> done_before{0, "what was done before arm()"};
  int nfired = 0;
  int nreleased = 0;
  int ncancelled = 0;

  world() {
    for (node& t : nodes) {
      t.fire = [](node*, void* w, std::uint64_t) {
        ++static_cast<world*>(w)->nfired;
        MODEL_CHECK(static_cast<world*>(w)->done_before.get() == 1,
                    "what was done before arm() is visible");
      };
      t.arg = this;
      t.release = [](node* t, rt::timer_state) { ++static_cast<world*>(t->arg)->nreleased; };
    }
  }
  void pop(heap& h, std::int64_t now_ns) {
    heap::due batch[2];
    const std::size_t n = h.pop_due(now_ns, batch);
    for (std::size_t i = 0; i < n; ++i) batch[i].run();
  }
};

TEST(timer_heap_model, it_fires_or_is_cancelled_and_never_both) {
  explore<world>({[](world& w) {
                    w.done_before.set(1);
                    const rt::arm_result r = w.timers.arm(&w.nodes[0], 5);
                    if (heap::cancel(&w.nodes[0], r.seq)) ++w.ncancelled;
                  },
                  [](world& w) { w.pop(w.timers, 10); }, [](world& w) { w.pop(w.timers, 10); }},
                 [](world& w) {
                   w.pop(w.timers, 10);
                   MODEL_CHECK(w.nfired + w.ncancelled == 1, "once, one or the other");
                   MODEL_CHECK(w.nreleased == w.ncancelled, "what was cancelled is released");
                 });
}

TEST(timer_heap_model, a_late_cancel_does_not_hit_the_next_arming) {
  explore<world>({[](world& w) {
                    w.done_before.set(1);
                    const std::uint64_t first = w.timers.arm(&w.nodes[0], 5).seq;
                    while (w.nodes[0].state() != rt::timer_state::idle) model_atomics::pause();
                    w.timers.arm(&w.nodes[0], 6);
                    MODEL_CHECK(!heap::cancel(&w.nodes[0], first), "it has fired");
                  },
                  [](world& w) {
                    while (w.timers.next_when() == rt::kNever) model_atomics::pause();
                    w.pop(w.timers, 5);
                  }},
                 [](world& w) {
                   w.pop(w.timers, 10);
                   MODEL_CHECK(w.nfired == 2, "both armings fired");
                 });
}

TEST(timer_heap_model, what_moves_to_another_heap_fires_once) {
  explore<world>({[](world& w) {
                    w.done_before.set(1);
                    if (w.timers.arm(&w.nodes[0], 5).status == rt::arm_status::retired)
                      w.others.arm(&w.nodes[0], 5);
                  },
                  [](world& w) { w.timers.move_all_to(w.others); },
                  [](world& w) {
                    w.pop(w.timers, 10);
                    w.pop(w.others, 10);
                  }},
                 [](world& w) {
                   w.pop(w.timers, 10);
                   w.pop(w.others, 10);
                   MODEL_CHECK(w.nfired == 1, "once");
                 });
}

// --- the watcher ---

struct watched : world {
  os::basic_lock<model_atomics, os::lock_rank::scheduler> lock;
  model_atomics::atomic<std::int64_t> watch_until{rt::kNever};
  os::basic_note<model_atomics> bed;
  bool is_watching = false;       // L
  std::int64_t slept_until = -1;  // what the sleep that nobody ends would last

  std::int64_t earliest() { return std::min(timers.next_when(), others.next_when()); }

  // An M that has nothing to do. It sleeps until its time, or is woken to look again.
  void watch() {
    for (;;) {
      const std::int64_t until = earliest();
      {
        const os::lock_guard l(lock);
        is_watching = true;
        watch_until.store(until, std::memory_order_seq_cst);
      }
      recheck(until);
      slept_until = watch_until.load(std::memory_order_relaxed);
      bed.sleep();  // never by the clock: whoever has to be woken is
    }
  }
  void recheck(std::int64_t until) {
    const std::int64_t now = earliest();
    if (now >= until) return;
    const os::lock_guard l(lock);
    if (now < watch_until.load(std::memory_order_relaxed))
      watch_until.store(now, std::memory_order_seq_cst);
  }
  // A plain thread.
  void arm(heap& h, node& t, std::int64_t when) {
    const rt::arm_result r = h.arm(&t, when);
    if (r.status == rt::arm_status::earliest && when < watch_until.load(std::memory_order_seq_cst))
      ensure_watch();
  }
  void ensure_watch() {
    {
      const std::int64_t now = earliest();
      if (now >= watch_until.load(std::memory_order_seq_cst)) return;
      const os::lock_guard l(lock);
      if (now >= watch_until.load(std::memory_order_relaxed)) return;
      if (!is_watching) return;  // it is awake, and will look
      watch_until.store(now, std::memory_order_seq_cst);
    }
    bed.wake();
  }
};

TEST(timer_heap_model, whoever_sleeps_wakes_up_for_the_earliest_timer) {
  explore<watched>(
      {[](watched& w) { w.watch(); }, [](watched& w) { w.arm(w.timers, w.nodes[0], 7); },
       [](watched& w) { w.arm(w.others, w.nodes[1], 5); }},
      [](watched& w) {
        MODEL_CHECK(w.slept_until <= 5, "it oversleeps");
        w.timers.clear();
        w.others.clear();
      },
      {.may_end_asleep = true});
}

// Its last timer has fired, and it is about to sleep for longer: whoever arms meanwhile still sees that somebody wakes up in time, and leaves
// it at that.
TEST(timer_heap_model, who_trusts_a_watcher_that_moves_on_is_seen_by_it) {
  struct moving_on : watched {
    moving_on() {
      is_watching = true;
      watch_until.store(3);
    }
  };
  explore<moving_on>(
      {[](moving_on& w) { w.watch(); }, [](moving_on& w) { w.arm(w.timers, w.nodes[0], 5); }},
      [](moving_on& w) {
        MODEL_CHECK(w.slept_until <= 5, "it oversleeps");
        w.timers.clear();
      },
      {.may_end_asleep = true});
}

}  // namespace
}  // namespace weft::model
